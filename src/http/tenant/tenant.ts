import { Tenant, TenantPatch } from '#contract/tenant.ts';
import { actorOf } from '#core/access.ts';
import { iso } from '#core/stream/frames.ts';
import type { TenantRecord, Tenants } from '#core/tenants.ts';
import { checkTimeZone } from '#core/time-zone.ts';
import { problems } from '../responses.ts';
import type { App, Services } from '../services.ts';

type Patch = Parameters<Tenants['update']>[1];

/** The caller's own tenant; there is no way to name another. */
export function tenantRoutes(app: App, { directory, tenancy, now }: Services): void {
  const common = { tags: ['dashboard'], security: [{ key: [] }] };

  app.get(
    '/api/tenant',
    {
      config: { policy: { role: 'viewer' } },
      schema: {
        ...common,
        summary: 'The tenant and its settings',
        response: { 200: Tenant, ...problems(401, 403) },
      },
    },
    async ({ principal }) => tenantView(await directory.tenants.get(principal.tenant)),
  );

  app.patch(
    '/api/tenant',
    {
      config: { policy: { role: 'admin' } },
      schema: {
        ...common,
        summary: 'Change settings; those that are not named keep their value, null is the server’s own',
        body: TenantPatch,
        response: { 200: Tenant, ...problems(400, 401, 403, 503) },
      },
    },
    async ({ principal, body }) => {
      if (body.timeZone !== undefined) checkTimeZone(body.timeZone, 'timeZone');
      const record = await directory.tenants.update(
        principal.tenant,
        body as Patch,
        actorOf(principal),
        now(),
      );
      await tenancy.refresh(principal.tenant);
      return tenantView(record);
    },
  );
}

function tenantView({ id: _, createdAt, ...rest }: TenantRecord): Tenant {
  return { ...rest, createdAt: iso(createdAt) };
}
