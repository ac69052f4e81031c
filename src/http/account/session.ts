import { Type } from 'typebox';
import { type Membership, Session, SignedIn, SignIn } from '#contract/session.ts';
import { findEmail } from '#core/email.ts';
import type { MembershipRecord } from '#core/members.ts';
import { problems } from '../responses.ts';
import type { App } from '../services.ts';
import { note } from './account-notes.ts';
import { setCookies } from './cookies.ts';
import type { AccountContext } from './sign-in-limits.ts';

const common = { tags: ['account'] };

/** Who is signed in; signing in and out. */
export function sessionRoutes(app: App, context: AccountContext): void {
  const { services, people, limits } = context;
  const { accounts, directory, signIn, version } = services;
  let hasAccount = false;

  app.get(
    '/api/session',
    {
      config: { policy: 'public' },
      schema: {
        ...common,
        summary: 'Who is signed in, and their tenants: what a page asks first',
        response: { 200: Session },
      },
    },
    async (request, reply) => {
      const found = await people.find(request);
      hasAccount ||= found !== undefined || !(await accounts.isEmpty());
      reply.header('cache-control', 'no-store');
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
    {
      config: { policy: 'public' },
      schema: {
        ...common,
        summary: 'Sign in with e-mail address and password',
        description:
          'Sets the session cookie. With `twoFactor` true in the answer there is no session yet: POST /api/session/two-factor must follow.',
        body: SignIn,
        response: { 200: SignedIn, ...problems(400, 401, 403, 503) },
      },
    },
    async (request, reply) => {
      const visit = people.visit(request);
      const { email, password, remember = false } = request.body;
      limits.take(request, reply, email);
      const { twoFactor, cookies, personId } = await signIn
        .withPassword(visit, { email, password, remember })
        .catch((error: unknown) => {
          void noteRefusal(context, email, visit.source);
          throw error;
        });
      // Still half: the password is right, and guessing on at the second factor is counted by itself.
      limits.proven(request, email);
      if (!twoFactor)
        await note(context, personId, 'session.begin', { from: visit.source, with: 'password' });
      setCookies(reply, cookies);
      return { ok: true as const, twoFactor };
    },
  );

  app.delete(
    '/api/session',
    {
      config: { policy: 'person', rateLimit: 'none' },
      schema: {
        ...common,
        security: [{ session: [] }],
        summary: 'Sign out',
        response: { 204: Type.Null({ description: 'Signed out.' }), ...problems(401, 403, 503) },
      },
    },
    async (request, reply) => {
      const { cookies } = await signIn.out(people.visit(request));
      setCookies(reply, cookies);
      return reply.code(204).send(null);
    },
  );
}

/** Whoever's account it is can see that somebody tried. Nobody waits for it: it takes no longer for one who is known. */
async function noteRefusal(context: AccountContext, email: string, from: string): Promise<void> {
  const address = findEmail(email);
  const person = address && (await context.services.accounts.findByEmail(address).catch(() => undefined));
  if (person) await note(context, person.id, 'session.refuse', { from });
}

function membershipView({ tenant: { name, title, timeZone }, role }: MembershipRecord): Membership {
  return { name, title, timeZone, role };
}
