import { type Static, Type } from 'typebox';
import {
  AcknowledgeAlarm,
  AlarmAcknowledged,
  AlarmActions,
  AlarmActionsDone,
  AlarmChanged,
  AssignAlarm,
  type AlarmAction as BulkAction,
  ClearAlarm,
  ShelveAlarm,
} from '#contract/history/alarm.ts';
import { standingStates } from '#contract/history/alarm-states.ts';
import { limits } from '#contract/limits.ts';
import { unchangedReasons } from '#core/alarms/reasons.ts';
import { actOnAlarms, alarmIds } from '#core/alarms/standing.ts';
import { badField, badRequest, notFound } from '#core/errors.ts';
import type { Acknowledgement, AlarmAction, AlarmOutcome } from '#core/log/log.ts';
import type { PanelAddress } from '#core/log/target.ts';
import { actorOf, type Principal, shownNameOf } from '#core/people/access.ts';
import { acknowledgedView } from '#core/streams/frames.ts';
import { iso } from '#core/time/time.ts';
import { IdPath, route } from '../openapi/route-schemas.ts';
import { connectionSignal } from '../requests.ts';
import type { App, Services } from '../services.ts';
import { queryOf } from './searches.ts';

/** Of an alarm; shelving needs a member. */
export const panelsOrMembers = { scope: 'panel', role: 'member' } as const;

/** What people do about alarms. */
export function alarmActionRoutes(app: App, services: Services): void {
  app.post(
    '/api/alarms/:id/acknowledge',
    route(panelsOrMembers, {
      summary: 'Say that somebody has seen an alarm and takes care of it',
      description:
        'The person who acknowledged it can change the note or the time. For others nothing changes and the answer names that person, unless `take` is true.',
      params: IdPath,
      body: Type.Union([AcknowledgeAlarm, Type.Null()]),
      response: { 200: AlarmAcknowledged },
    }),
    async ({ principal, params, body }) => {
      const action = toAction(services, principal, { ...body, action: 'acknowledge' });
      return acknowledgeOne(services, principal, params.id, action);
    },
  );
  const change = (
    method: 'post' | 'delete',
    path: string,
    action: 'unacknowledge' | 'shelve' | 'unshelve' | 'clear',
    summary: string,
  ) => {
    const isShelf = action === 'shelve' || action === 'unshelve';
    app[method](
      `/api/alarms/:id/${path}`,
      route(isShelf ? 'member' : panelsOrMembers, {
        summary,
        params: IdPath,
        ...(action === 'shelve' && { body: ShelveAlarm }),
        ...(action === 'clear' && { body: Type.Union([ClearAlarm, Type.Null()]) }),
        response: { 200: AlarmChanged },
      }),
      async ({ principal, params, body }) => {
        const given = { ...(body as Static<typeof ShelveAlarm> | null), action };
        const outcome = await actOnOne(services, principal, params.id, toAction(services, principal, given));
        if (isShelf && outcome.kind === 'done')
          await note(services, principal, { ...given, subject: outcome.id, alarms: 1 });
        return { ok: true as const, id: outcome.id, changed: outcome.kind === 'done' };
      },
    );
  };
  change('delete', 'acknowledge', 'unacknowledge', 'Take an acknowledgement back: the alarm is open again');
  change('post', 'shelve', 'shelve', 'Take an alarm off its panels until a time');
  change('delete', 'shelve', 'unshelve', 'Bring a shelved alarm back to its panels');
  change('post', 'clear', 'clear', 'End an alarm: it leaves its panels; history keeps it');

  app.put(
    '/api/alarms/:id/owner',
    route(panelsOrMembers, {
      summary: 'Name the person who takes care of an alarm',
      description: 'A repeat keeps the owner. null: nobody takes care of it any more.',
      params: IdPath,
      body: AssignAlarm,
      response: { 200: AlarmChanged },
    }),
    async ({ principal, params, body: { userId } }) => {
      const outcome = await actOnOne(
        services,
        principal,
        params.id,
        await toAssignment(services, principal, userId),
      );
      return { ok: true as const, id: outcome.id, changed: outcome.kind === 'done' };
    },
  );

  app.post(
    '/api/alarms/actions',
    route('member', {
      summary: 'Change many alarms in one call',
      description: `Either ids, or q: all alarms that match and have not ended. At most ${limits.alarmsAtOnce}: if more match, none is changed, and the answer is a 400.`,
      body: AlarmActions,
      response: { 200: AlarmActionsDone },
      expensive: 'search',
    }),
    async (request) => {
      const { principal, body } = request;
      const { tenant } = principal;
      const action = await bulkAction(services, principal, body);
      if ((body.ids === undefined) === (body.q === undefined))
        throw badRequest('give either ids or q, which names the alarms by a search');
      const ids =
        body.ids ??
        (await alarmIds(services, tenant, {
          query: await queryOf(services, tenant, body.q),
          states: body.state ?? standingStates,
          signal: connectionSignal(request),
        }));
      const outcomes = await actOnAlarms(services, tenant, ids, action);
      const failed = outcomes.flatMap((outcome, i) => {
        const error = reasonOf(outcome, body.action);
        return error === undefined ? [] : [{ id: ids[i] as string, error }];
      });
      const done = ids.length - failed.length;
      if (done > 0)
        await note(services, principal, { ...body, subject: body.q || (ids[0] as string), alarms: done });
      return { done, failed };
    },
  );
}

async function bulkAction(
  services: Services,
  principal: Principal,
  { action, ...body }: Static<typeof AlarmActions>,
): Promise<AlarmAction> {
  if (action !== 'assign') return toAction(services, principal, { ...body, action });
  refuseTime({ ...body, action });
  return toAssignment(services, principal, body.userId);
}

/** @throws AppError `bad-request` for a time that has no meaning here. */
function refuseTime({ action, forMs, untilMs }: GivenAction): void {
  const field = forMs !== undefined ? 'forMs' : untilMs !== undefined ? 'untilMs' : undefined;
  if (field) throw badField(field, `is for acknowledge and shelve, not for ${action}`);
}

/** @throws AppError `bad-request` without an account, and for one that is no member. */
async function toAssignment(
  { directory, now }: Services,
  principal: Principal,
  userId: string | null | undefined,
): Promise<AlarmAction> {
  const given = { kind: 'assign', at: now(), by: shownNameOf(principal) } as const;
  if (userId === null) return { ...given, owner: null };
  if (userId === undefined) throw badRequest('give userId: who takes care of it, or null');
  const member = await directory.members.find(principal.tenant, userId);
  if (!member) throw badField('userId', 'is no member of this tenant; GET /api/members lists them');
  return { ...given, owner: { id: member.person, name: member.name } };
}

/** Why an alarm that is on no panel cannot be acknowledged. `unknown`: it has changed since. */
const offReasons = {
  shelved: 'it is shelved: unshelve it first',
  suppressed: 'it is suppressed by another alarm, and comes back when that has ended',
  unknown: 'try again',
} as const;

/** Why an alarm was not changed; undefined if it was. */
function reasonOf(outcome: AlarmOutcome, action: BulkAction): string | undefined {
  switch (outcome.kind) {
    case 'done':
      return undefined;
    case 'already':
      return `acknowledged by ${outcome.acknowledged.by}`;
    case 'nothing':
      return action === 'acknowledge' ? offReasons[outcome.off ?? 'unknown'] : unchangedReasons[action];
    case 'not-found':
      return 'there is no such alarm';
  }
}

interface GivenAction {
  readonly action: BulkAction;
  readonly note?: string;
  readonly forMs?: number;
  readonly untilMs?: number;
  readonly take?: boolean;
}

const endOf = ({ untilMs, forMs }: Pick<GivenAction, 'untilMs' | 'forMs'>, at: number): number | undefined =>
  untilMs ?? (forMs === undefined ? undefined : at + forMs);

/** @throws AppError `bad-request` for a shelf without an end, or one that is over or too long. */
export function toAction(
  { now }: Services,
  principal: Principal,
  given: GivenAction & { readonly action: Exclude<BulkAction, 'assign'> },
): AlarmAction {
  const by = shownNameOf(principal);
  const at = now();
  if (given.action !== 'acknowledge' && given.action !== 'shelve') refuseTime(given);
  const note = given.note?.trim() || null;
  const isEndless = given.action === 'acknowledge' && given.forMs === 0 && given.untilMs === undefined;
  const until = isEndless ? null : endOf(given, at);
  if (until != null && (until <= at || until > at + limits.shelfMs))
    throw badRequest('untilMs must be in the future, within a year');
  switch (given.action) {
    case 'acknowledge': {
      const over = given.take ? ('any' as const) : ('own' as const);
      return { kind: 'acknowledge', at, by, note, over, ...(until !== undefined && { until }) };
    }
    case 'shelve':
      if (until == null) throw badRequest('give untilMs or forMs: until when it is shelved');
      return { kind: 'shelve', at, by, note, until };
    case 'clear':
      return { kind: 'clear', at, by, note };
    default:
      return { kind: given.action, at, by };
  }
}

/** @throws AppError `not-found` as {@link actOnOne}, and `bad-request` while it is shelved or suppressed. */
export async function acknowledgeOne(
  services: Services,
  principal: Principal,
  id: string,
  action: AlarmAction,
  what?: string,
) {
  const outcome = await actOnOne(services, principal, id, action, what);
  const first = outcome.kind === 'done' && outcome.entry.kind === 'acknowledgement';
  if (outcome.kind === 'nothing')
    throw badRequest(`it is on no panel: ${offReasons[outcome.off ?? 'unknown']}`);
  const given = outcome.kind === 'already' ? outcome.acknowledged : (outcome.entry as Acknowledgement);
  return { ok: true as const, id: outcome.id, first, acknowledged: acknowledgedView(given) };
}

/** @throws AppError `not-found`, also for what does not reach the panel of a token that is bound to one. */
export async function actOnOne(
  services: Services,
  principal: Principal,
  id: string,
  action: AlarmAction,
  what = 'alarm',
) {
  const within = await ownPanel(services, principal);
  const [outcome] = await actOnAlarms(services, principal.tenant, [id], action, within);
  if (!outcome || outcome.kind === 'not-found') throw notFound(what);
  return outcome;
}

/** The panel of a token that may act only for it. @throws AppError `not-found` when that panel is gone. */
async function ownPanel({ tenancy }: Services, principal: Principal): Promise<PanelAddress | undefined> {
  if (principal.kind !== 'token' || principal.panelId === null) return undefined;
  const panel = await tenancy.findPanel(principal.tenant, principal.panelId);
  if (!panel) throw notFound('alarm');
  return panel;
}

/** The audit log has one entry for a call, however many alarms it changed. */
async function note(
  { directory, now }: Services,
  principal: Principal,
  {
    action,
    subject,
    alarms,
    note: text,
    ...given
  }: GivenAction & { readonly subject: string; readonly alarms: number },
): Promise<void> {
  const at = now();
  const until = given.forMs === 0 ? undefined : endOf(given, at);
  await directory.auditLog.add(principal.tenant, {
    ...{ by: actorOf(principal), at, action: `alarm.${action}`, subject },
    detail: { alarms, ...(text && { note: text }), ...(until !== undefined && { until: iso(until) }) },
  });
}
