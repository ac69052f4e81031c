import { uuidv7 } from 'uuidv7';
import {
  OnCallCreate,
  OnCallDetail,
  OnCallList,
  OnCallPatch,
  OnCallPreview,
  OnCallPreviewed,
} from '#contract/routing/on-call.ts';
import { watchOnCall } from '#core/alarms/on-call-gaps.ts';
import { notFound, requireFound } from '#core/errors.ts';
import type { TenantId } from '#core/log/route.ts';
import { neverRead, OnCallPlan, type OnCallRecord } from '#core/on-call/on-call.ts';
import {
  changedOnCall,
  newOnCall,
  onCallDetail,
  onCallView,
  shiftsAhead,
} from '#core/on-call/on-call-setup.ts';
import { actorOf, mayReadReceivers, type Principal } from '#core/people/access.ts';
import { IdPath, NoContent, problems, route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';
import { removeUnnamed } from './removal.ts';

/** On-call schedules. */
export function onCallRoutes(app: App, services: Services): void {
  const { directory, now } = services;
  const { onCall } = directory;
  changeRoutes(app, services);
  const detail = (record: OnCallRecord, principal: Principal) =>
    onCallDetail(new OnCallPlan(record), now(), mayReadReceivers(principal));

  app.get(
    '/api/on-call',
    route('viewer', {
      summary: 'On-call schedules, by name, with who is on call now and next',
      description: 'Below the role admin, of the address of a calendar its origin alone is answered.',
      response: { 200: OnCallList },
    }),
    async ({ principal }) => {
      const records = await onCall.list(principal.tenant);
      const isAdmin = mayReadReceivers(principal);
      return { schedules: records.map((each) => onCallView(new OnCallPlan(each), now(), isAdmin)) };
    },
  );

  app.get(
    '/api/on-call/:id',
    route('viewer', {
      summary: 'An on-call schedule, with who is on call in the next two weeks',
      params: IdPath,
      response: { 200: OnCallDetail },
    }),
    async ({ principal, params }) => detail(await find(services, principal.tenant, params.id), principal),
  );

  app.post(
    '/api/on-call/:id/read',
    route('admin', {
      summary: 'Read the calendar of an on-call schedule now',
      description: 'If it cannot be read, `calendarState` of the answer says why.',
      params: IdPath,
      response: { 200: OnCallDetail },
      expensive: 'calendar',
    }),
    async ({ principal, params }) => {
      const { tenant } = principal;
      const record = await find(services, tenant, params.id);
      if (record.calendar) await services.calendars.read(record);
      return detail(await find(services, tenant, params.id), principal);
    },
  );
}

function changeRoutes(app: App, services: Services): void {
  const { directory, tenancy, schedule, now } = services;
  const { onCall } = directory;
  const announce = async (tenant: TenantId, id: string) => {
    await tenancy.refresh(tenant);
    await watchOnCall(schedule, tenant, id);
  };

  app.post(
    '/api/on-call',
    route('admin', {
      summary: 'Create an on-call schedule',
      description:
        'Give a `rota` or a `calendar`. A calendar is read within seconds, and then every five minutes.',
      body: OnCallCreate,
      response: { 201: OnCallDetail, ...problems(409) },
    }),
    async ({ principal, body }) => {
      const { tenant } = principal;
      const snapshot = await tenancy.current(tenant);
      const at = now();
      const fields = newOnCall(body, snapshot.record.timeZone, snapshot);
      const record = { ...fields, tenant, id: uuidv7(), createdAt: at, updatedAt: at };
      await onCall.create(record, actorOf(principal));
      await announce(tenant, record.id);
      return onCallDetail(new OnCallPlan({ ...record, reading: neverRead }), at, true);
    },
  );

  app.patch(
    '/api/on-call/:id',
    route('admin', {
      summary: 'Change an on-call schedule',
      description:
        'Fields that are not named keep their value; a rota takes the place of a calendar, and a calendar that of a rota.',
      params: IdPath,
      body: OnCallPatch,
      response: { 200: OnCallDetail, ...problems(409) },
    }),
    async ({ principal, params, body }) => {
      const { tenant } = principal;
      const snapshot = await tenancy.current(tenant);
      const plan = (known: OnCallRecord) => changedOnCall(known, body, snapshot);
      const record = await onCall.update(tenant, params.id, plan, actorOf(principal), now());
      if (!record) throw notFound('on-call schedule');
      await announce(tenant, record.id);
      return onCallDetail(new OnCallPlan(record), now(), true);
    },
  );

  app.delete(
    '/api/on-call/:id',
    route('admin', {
      summary: 'Delete an on-call schedule',
      description: 'Refused while a rule names it.',
      params: IdPath,
      response: { 204: NoContent, ...problems(409) },
    }),
    async ({ principal, params: { id } }) => {
      const { tenant } = principal;
      const { name } = await find(services, tenant, id);
      await removeUnnamed(services, tenant, {
        ...{ kind: 'on-call schedule', name: `"${name}"` },
        rulesThatName: (rules) => rules.filter(({ then }) => then.onCall === id),
        remove: (revision) => onCall.remove(tenant, id, actorOf(principal), now(), revision),
      });
      await announce(tenant, id);
    },
  );

  app.post(
    '/api/on-call/preview',
    route('admin', {
      summary: 'Who a rota puts on call in the next two weeks',
      description: 'Stores nothing.',
      body: OnCallPreview,
      response: { 200: OnCallPreviewed },
    }),
    async ({ principal, body }) => {
      const { tenant } = principal;
      const snapshot = await tenancy.get(tenant);
      const fields = newOnCall({ ...body, name: '-' }, snapshot.record.timeZone, snapshot);
      const record = { ...fields, tenant, id: '-', createdAt: 0, updatedAt: 0, reading: neverRead };
      return { shifts: shiftsAhead(new OnCallPlan(record), now()) };
    },
  );
}

async function find({ directory }: Services, tenant: TenantId, id: string): Promise<OnCallRecord> {
  return requireFound(await directory.onCall.find(tenant, id), 'on-call schedule');
}
