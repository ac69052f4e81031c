import { Type } from 'typebox';
import { limits } from '#contract/limits.ts';
import { Membership, Tenant, TenantCreate, TenantPatch } from '#contract/people/account.ts';
import { AuditPage } from '#contract/people/audit.ts';
import { AppError, forbidden } from '#core/errors.ts';
import { actorOf } from '#core/people/access.ts';
import { checkBounds, type TenantBounds, type TenantRecord, type Tenants } from '#core/tenants/tenants.ts';
import { checkTimeZone, iso } from '#core/time/time.ts';
import type { AccountContext } from '../account/account-context.ts';
import { membershipView } from '../account/session.ts';
import { limitUpTo, problems, readLimit, route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';

type Patch = Parameters<Tenants['update']>[1];

/** The caller's own tenant; no other can be named. */
export function tenantRoutes(app: App, { directory, tenancy, now, settings: { bounds } }: Services): void {
  app.get(
    '/api/tenant',
    route('viewer', { summary: 'The tenant and its settings', response: { 200: Tenant } }),
    async ({ principal }) => tenantView(await directory.tenants.get(principal.tenant), bounds),
  );

  app.patch(
    '/api/tenant',
    route('admin', {
      summary: 'Change settings; those that are not named keep their value, null is the server’s own',
      body: TenantPatch,
      response: { 200: Tenant },
    }),
    async ({ principal, body }) => {
      if (body.timeZone !== undefined) checkTimeZone(body.timeZone, 'timeZone');
      checkBounds(body as Patch, bounds);
      const record = await directory.tenants.update(
        principal.tenant,
        body as Patch,
        actorOf(principal),
        now(),
      );
      await tenancy.refresh(principal.tenant);
      return tenantView(record, bounds);
    },
  );
}

function tenantView(
  { id: _, createdAt, ...rest }: TenantRecord,
  { rate, retentionDays, retentionCount }: TenantBounds,
): Tenant {
  return { ...rest, bounds: { rate, retentionDays, retentionCount }, createdAt: iso(createdAt) };
}

/** POST /api/tenants. The routes about one tenant are in `tenant/`. */
export function tenantsRoutes(app: App, { services }: AccountContext): void {
  const { directory, now, settings } = services;

  app.post(
    '/api/tenants',
    route('person', {
      summary: 'Create a tenant as its owner; requires to own another tenant already',
      body: TenantCreate,
      response: { 201: Membership, ...problems(409) },
    }),
    async ({ person: { person }, body }) => {
      const { name, title, timeZone } = body;
      const memberships = await directory.members.ofPerson(person.id);
      if (!memberships.some(({ tenant, role }) => role === 'owner' && tenant.state === 'active'))
        throw forbidden('only an owner of a tenant may make another');
      if (timeZone !== undefined) checkTimeZone(timeZone, 'timeZone');
      const wanted = {
        name,
        title: title.trim(),
        owner: person,
        ...(timeZone !== undefined && { timeZone }),
      };
      const created = await directory.tenants.createOwned(wanted, person.email, now(), {
        inAll: settings.bounds.tenants,
        ofOwner: limits.tenantsPerOwner,
      });
      return membershipView({ tenant: created, role: 'owner' });
    },
  );
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const Filter = (description: string) => Type.Optional(Type.String({ maxLength: 300, description }));

/** The audit log of a tenant. */
export function auditRoutes(app: App, { directory }: Services): void {
  app.get(
    '/api/audit',
    route('admin', {
      summary: 'The audit log, newest first',
      description:
        'Every change of configuration, kept for a year. The detail of an update has the values before and after, without secrets.',
      querystring: Type.Object({
        limit: limitUpTo(limits.auditPage),
        cursor: Type.Optional(Type.String({ description: 'nextCursor of the page before.' })),
        action: Filter('One action, as in rule.update, or all of a kind, as in rule.'),
        by: Filter('Who made the change, as the entries name them.'),
        subject: Filter('Id or name of what was changed.'),
      }),
      response: { 200: AuditPage },
    }),
    async ({ principal, query: { limit, cursor, action, by, subject } }) => {
      const { entries, more } = await directory.auditLog.page({
        tenant: principal.tenant,
        limit: readLimit(limit, limits.auditPage),
        before: readCursor(cursor),
        action: action || undefined,
        by: by || undefined,
        subject: subject || undefined,
      });
      return { entries: [...entries], nextCursor: more ? (entries.at(-1)?.id ?? null) : null };
    },
  );
}

function readCursor(text: string | undefined): string | undefined {
  if (text === undefined || uuid.test(text)) return text;
  throw new AppError(
    'cursor.invalid',
    'cursor is not one of this service: use nextCursor as it was answered',
  );
}
