import { Membership } from '#contract/session.ts';
import { TenantCreate } from '#contract/tenant.ts';
import { AppError } from '#core/errors.ts';
import { checkTimeZone } from '#core/time-zone.ts';
import { problems } from '../responses.ts';
import type { App } from '../services.ts';
import type { AccountContext } from './sign-in-limits.ts';

/** Tenants as a whole; what is in one stands in `tenant/`. */
export function tenantsRoutes(app: App, { services }: AccountContext): void {
  const { directory, now } = services;

  app.post(
    '/api/tenants',
    {
      config: { policy: 'person' },
      schema: {
        tags: ['account'],
        security: [{ session: [] }],
        summary: 'Make a tenant, and own it: for whoever owns one already',
        body: TenantCreate,
        response: { 201: Membership, ...problems(400, 401, 403, 409, 503) },
      },
    },
    async ({ person: { person }, body }, reply) => {
      const { name, title, timeZone } = body;
      const memberships = await directory.members.ofPerson(person.id);
      if (!memberships.some(({ role }) => role === 'owner'))
        throw new AppError('forbidden', 'only an owner of a tenant may make another');
      if (timeZone !== undefined) checkTimeZone(timeZone, 'timeZone');
      const wanted = {
        name,
        title: title.trim(),
        owner: person,
        ...(timeZone !== undefined && { timeZone }),
      };
      const made = await directory.tenants.createOwned(wanted, person.email, now());
      reply.code(201);
      return { name: made.name, title: made.title, timeZone: made.timeZone, role: 'owner' as const };
    },
  );
}
