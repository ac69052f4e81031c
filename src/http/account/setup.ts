import { Setup, SignedIn } from '#contract/people/session.ts';
import { AppError } from '#core/errors.ts';
import { defaultTenant } from '#core/tenants/tenants.ts';
import { checkTimeZone } from '#core/time.ts';
import { problems, route } from '../openapi/route-schemas.ts';
import type { App } from '../services.ts';
import { type AccountContext, signedIn } from './account-context.ts';

const isSetUp = () =>
  new AppError('conflict', 'this server is set up already: sign in, or ask its owner for an invitation');

/** Creates the first account, once, with the secret that the server printed when it started. */
export function setUpRoutes(app: App, { services, people, limits }: AccountContext): void {
  const { accounts, directory, signIn, setUp, tenancy, now } = services;

  app.post(
    '/api/setup',
    route('public', {
      tags: ['account'],
      summary: 'Create the first account, the owner of the tenant `default`, and sign in',
      description: '`secret` is the part after # of the link that the server prints while it has no account.',
      body: Setup,
      response: { 200: SignedIn, ...problems(403, 409) },
    }),
    async (request, reply) => {
      const visit = people.visit(request);
      const { secret, email, name, password, tenantTitle, timeZone } = request.body;
      await limits.take(request, reply);
      // Before the wait: another request that sets up during it makes the link invalid.
      const matches = setUp.matches(secret);
      if (!(await accounts.isEmpty())) throw isSetUp();
      if (!matches)
        throw new AppError('forbidden', 'this setup link is not valid: open the link in the server’s log');
      if (timeZone !== undefined) checkTimeZone(timeZone, 'timeZone');
      const person = await signIn.newPerson({ email, name, password, emailVerified: true });
      const tenant = await directory.tenants.findByName(defaultTenant);
      if (!tenant) throw new Error('there is no tenant "default"');
      const session = signIn.newSession(visit);
      const settings = {
        id: tenant.id,
        title: tenantTitle.trim(),
        ...(timeZone !== undefined && { timeZone }),
      };
      const isFirst = await accounts.createFirst({
        person,
        tenant: settings,
        session: session.record,
        by: person.email,
        at: now(),
      });
      if (!isFirst) throw isSetUp();
      setUp.close();
      await tenancy.refresh(tenant.id);
      return signedIn(reply, session.cookies);
    },
  );
}
