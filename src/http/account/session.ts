/** Who is signed in; signing in and out, and again before a change of how one signs in. */
import { type Membership, Proof, ProofState, Session, SignedIn, SignIn } from '#contract/people/account.ts';
import type { MembershipRecord } from '#core/people/members.ts';
import { NoContent, problems, route } from '../openapi/route-schemas.ts';
import type { App } from '../services.ts';
import { type AccountContext, note, setCookies, signedIn } from './account-context.ts';
import { withPassword } from './password.ts';

/** Who is signed in; signing in and out. */
export function sessionRoutes(app: App, context: AccountContext): void {
  const { services, people } = context;
  const { accounts, directory, signIn, version } = services;
  let hasAccount = false;

  app.get(
    '/api/session',
    route('public', {
      tags: ['account'],
      summary: 'The person who is signed in, and their tenants',
      response: { 200: Session },
    }),
    async (request) => {
      const found = await people.find(request);
      hasAccount ||= found !== undefined || !(await accounts.isEmpty());
      return {
        person: found?.person ?? null,
        tenants: found ? (await directory.members.ofPerson(found.person.id)).map(membershipView) : [],
        needsSetup: !hasAccount,
        providers: [...signIn.providers],
        version,
      };
    },
  );

  app.post(
    '/api/session',
    route('public', {
      tags: ['account'],
      summary: 'Sign in with email address and password',
      description:
        'Sets the session cookie. If `twoFactor` is true in the answer, there is no session yet: POST /api/session/two-factor must follow.',
      body: SignIn,
      response: { 200: SignedIn, ...problems(401, 403) },
    }),
    async (request, reply) => {
      const visit = people.visit(request);
      const { email, password, remember = false } = request.body;
      const { twoFactor, cookies, personId } = await withPassword(context, { request, reply }, visit, {
        email,
        password,
        remember,
      });
      if (!twoFactor)
        await note(context, personId, 'session.begin', { from: visit.source, with: 'password' });
      return signedIn(reply, cookies, twoFactor);
    },
  );

  app.delete(
    '/api/session',
    route('person', { summary: 'Sign out', response: { 204: NoContent }, rateLimit: 'none' }),
    async (request, reply) => {
      const { cookies } = await signIn.signOut(people.visit(request));
      setCookies(reply, cookies);
    },
  );
}

export function membershipView({ tenant, role }: Pick<MembershipRecord, 'tenant' | 'role'>): Membership {
  const { name, title, timeZone, state } = tenant;
  return { name, title, timeZone, role, suspended: state === 'suspended' };
}

/** Reauthentication: required before a person changes how they sign in. */
export function proofRoutes(app: App, { services: { signIn }, people, limits }: AccountContext): void {
  app.get(
    '/api/account/proof',
    route('person', {
      summary: 'Whether the session is reauthenticated, and the ways to do so',
      response: { 200: ProofState },
    }),
    async ({ person: { person, session } }) => ({
      proven: signIn.isReauthenticated(session),
      ...(await signIn.reauthenticationMethods(person.id)),
    }),
  );

  app.post(
    '/api/account/proof',
    route('person', {
      summary: 'Reauthenticate with a password or a passkey',
      description:
        'Valid for ten minutes in this session, like a sign-in: in this time passkeys can be added and removed, and other sessions ended.',
      body: Proof,
      response: {
        204: NoContent,
      },
    }),
    async (request, reply) => {
      const { person, session } = request.person;
      await limits.take(request, reply, session.id);
      const { password, response } = request.body;
      const proof = password === undefined ? { passkey: response ?? {} } : { password };
      await signIn.reauthenticate(people.visit(request), request.person, proof);
      limits.proven(request, person.email);
    },
  );
}
