import { Tenant, TenantPatch } from '#contract/people/tenant.ts';
import { actorOf } from '#core/people/access.ts';
import { checkBounds, type TenantBounds } from '#core/tenants/tenant-bounds.ts';
import type { TenantRecord, Tenants } from '#core/tenants/tenants.ts';
import { checkTimeZone, iso } from '#core/time.ts';
import { route } from '../openapi/route-schemas.ts';
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
