/** How accounts begin: the first one with the setup link, all others with an invitation. */
import { Setup, SignedIn } from '#contract/people/account.ts';
import { InvitationAccept, InvitationPreview, InvitationSecret } from '#contract/people/member.ts';
import { AppError, conflict, forbidden, unauthorized } from '#core/errors.ts';
import { assertActive } from '#core/people/access.ts';
import type { InvitationRecord } from '#core/people/members.ts';
import { hashSecret } from '#core/people/secrets.ts';
import type { Visit } from '#core/people/sign-in.ts';
import { defaultTenant, isGone } from '#core/tenants/tenants.ts';
import { checkTimeZone, iso } from '#core/time/time.ts';
import { problems, route } from '../openapi/route-schemas.ts';
import type { App } from '../services.ts';
import { type AccountContext, setCookies, signedIn } from './account-context.ts';

const isSetUp = () => conflict('this server is set up already: sign in, or ask its owner for an invitation');

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
      if (!matches) throw forbidden('this setup link is not valid: open the link in the server’s log');
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

const invitationOver = () =>
  new AppError('gone', 'this invitation is over: it was used, withdrawn or has expired; ask for a new one');

/** Accepting an invitation by its secret, with an existing or a new account. */
export function invitationAcceptRoutes(app: App, context: AccountContext): void {
  const { services, people, limits } = context;
  const { directory, now } = services;
  const getPending = async (secret: string): Promise<InvitationRecord & { readonly tenantTitle: string }> => {
    const found = await directory.invitations.findBySecret(hashSecret(secret), now());
    if (!found) throw invitationOver();
    const tenant = await directory.tenants.get(found.tenant);
    if (isGone(tenant)) throw invitationOver();
    assertActive(tenant);
    return { ...found, tenantTitle: tenant.title };
  };

  app.post(
    '/api/invitations/preview',
    route('public', {
      tags: ['account'],
      summary: 'Preview an invitation',
      body: InvitationSecret,
      response: { 200: InvitationPreview, ...problems(403, 410) },
    }),
    async (request, reply) => {
      people.visit(request);
      await limits.take(request, reply);
      const { tenantTitle, role, email, createdBy, expiresAt } = await getPending(request.body.secret);
      return { tenantTitle, role, email, createdBy, expiresAt: iso(expiresAt) };
    },
  );

  app.post(
    '/api/invitations/accept',
    route('public', {
      tags: ['account'],
      summary: 'Accept an invitation, with the account of the session or with a new one, which is signed in',
      body: InvitationAccept,
      response: { 200: SignedIn, ...problems(401, 403, 409, 410) },
    }),
    async (request, reply) => {
      const visit = people.visit(request);
      await limits.take(request, reply);
      const invitation = await getPending(request.body.secret);
      const { account, secret } = request.body;
      if (account) setCookies(reply, await joinAsNew(context, visit, invitation, account));
      else {
        const found = await people.find(request);
        if (!found) throw unauthorized('sign in first, or send what a new account needs');
        await directory.invitations.accept(hashSecret(secret), found.person.id, now());
      }
      await services.tenancy.refresh(invitation.tenant);
      return { ok: true as const, twoFactor: false };
    },
  );
}

async function joinAsNew(
  { services: { accounts, signIn, now } }: AccountContext,
  visit: Visit,
  invitation: InvitationRecord,
  account: NonNullable<InvitationAccept['account']>,
): Promise<readonly string[]> {
  // An invitation that names an email address verifies it. Anybody may have a link that names none.
  const person = await signIn.newPerson({ ...account, emailVerified: invitation.email !== null });
  if (invitation.email !== null && invitation.email.toLowerCase() !== person.email)
    throw forbidden(`this invitation is for another email address: take that one`);
  const outcome = await accounts.join(person, invitation, now());
  if (outcome === 'no-invitation') throw invitationOver();
  if (outcome === 'email-taken')
    throw conflict('there is an account with this email address: sign in, then open the link again');
  const { cookies } = await signIn.withPassword(visit, {
    email: person.email,
    password: account.password,
    remember: false,
  });
  return cookies;
}
