import { limits } from '#contract/limits.ts';
import { Membership } from '#contract/people/session.ts';
import { TenantCreate } from '#contract/people/tenant.ts';
import { AppError } from '#core/errors.ts';
import { checkTimeZone } from '#core/time.ts';
import { problems, route } from '../openapi/route-schemas.ts';
import type { App } from '../services.ts';
import type { AccountContext } from './account-context.ts';
import { membershipView } from './session.ts';

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
    async ({ person: { person }, body }, reply) => {
      const { name, title, timeZone } = body;
      const memberships = await directory.members.ofPerson(person.id);
      if (!memberships.some(({ tenant, role }) => role === 'owner' && tenant.state === 'active'))
        throw new AppError('forbidden', 'only an owner of a tenant may make another');
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
      reply.code(201);
      return membershipView({ tenant: created, role: 'owner' });
    },
  );
}
