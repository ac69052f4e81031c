import { Tenant, TenantPatch } from '#contract/tenant.ts';
import { actorOf } from '#core/access.ts';
import { iso } from '#core/iso-time.ts';
import type { TenantRecord, Tenants } from '#core/tenants.ts';
import { checkTimeZone } from '#core/time-zone.ts';
import { route } from '../route-schemas.ts';
import type { App, Services } from '../services.ts';

type Patch = Parameters<Tenants['update']>[1];

/** The caller's own tenant; no other can be named. */
export function tenantRoutes(app: App, { directory, tenancy, now }: Services): void {
  app.get(
    '/api/tenant',
    route('viewer', { summary: 'The tenant and its settings', response: { 200: Tenant } }),
    async ({ principal }) => tenantView(await directory.tenants.get(principal.tenant)),
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
