import {
  AccountPatch,
  type AccountSession,
  AccountSessionList,
  PasswordChange,
  Person,
} from '#contract/people/account.ts';
import { requireFound } from '#core/errors.ts';
import type { SessionRecord } from '#core/people/accounts.ts';
import { iso } from '#core/time/time.ts';
import { IdPath, NoContent, problems, route } from '../openapi/route-schemas.ts';
import type { App } from '../services.ts';
import { type AccountContext, note, setCookies } from './account-context.ts';

/** A person's own account: name, password, and the browsers they are signed in with. */
export function accountRoutes(app: App, context: AccountContext): void {
  const { services, people, limits } = context;
  const { accounts, directory, signIn, tenancy, now } = services;

  app.patch(
    '/api/account',
    route('person', { summary: 'Change the person’s name', body: AccountPatch, response: { 200: Person } }),
    async (request) => {
      const { person } = request.person;
      const name = request.body.name.trim();
      await accounts.rename(person.id, name, now());
      await note(context, person.id, 'account.rename', { from: person.name, to: name });
      // The members page shows the name.
      const memberships = await directory.members.ofPerson(person.id);
      await Promise.all(memberships.map(({ tenant }) => tenancy.refresh(tenant.id)));
      return { ...person, name };
    },
  );

  app.post(
    '/api/account/password',
    route('person', {
      summary: 'Change the password; every other session ends',
      body: PasswordChange,
      response: { 204: NoContent, ...problems(409) },
    }),
    async (request, reply) => {
      const { person, session } = request.person;
      await limits.take(request, reply, session.id);
      const change = { person: request.person, ...request.body };
      const { cookies } = await signIn.changePassword(people.visit(request), change);
      limits.proven(request, person.email);
      await note(context, person.id, 'account.password', {});
      setCookies(reply, cookies);
    },
  );

  sessionListRoutes(app, context);
}

function sessionListRoutes(app: App, context: AccountContext): void {
  const { accounts, now } = context.services;

  app.get(
    '/api/account/sessions',
    route('person', {
      summary: 'The person’s sessions, last used first',
      response: { 200: AccountSessionList },
    }),
    async ({ person: { person, session } }) => ({
      sessions: (await accounts.sessionsOf(person.id, now())).map((each) => sessionView(each, session.id)),
    }),
  );

  app.delete(
    '/api/account/sessions/:id',
    route('proven', { summary: 'End one session', params: IdPath, response: { 204: NoContent } }),
    async ({ person: { person }, params }) => {
      requireFound(await accounts.endSession(person.id, params.id), 'session');
      await note(context, person.id, 'session.end', { sessions: 1 });
    },
  );

  app.delete(
    '/api/account/sessions',
    route('proven', { summary: 'End all sessions except this one', response: { 204: NoContent } }),
    async ({ person: { person, session } }) => {
      const sessions = await accounts.endSessions(person.id, session.id);
      if (sessions > 0) await note(context, person.id, 'session.end', { sessions });
    },
  );
}

function sessionView(session: SessionRecord, current: string): AccountSession {
  const { id, createdAt, lastSeenAt, expiresAt, address, userAgent } = session;
  return {
    id,
    current: id === current,
    createdAt: iso(createdAt),
    lastSeenAt: iso(lastSeenAt),
    expiresAt: iso(expiresAt),
    address,
    userAgent,
  };
}
