import { Type } from 'typebox';
import { AccountPatch, type AccountSession, AccountSessionList, PasswordChange } from '#contract/account.ts';
import { Person } from '#contract/session.ts';
import type { SessionRecord } from '#core/accounts.ts';
import { notFound } from '#core/errors.ts';
import { iso } from '#core/stream/frames.ts';
import { problems } from '../responses.ts';
import type { App } from '../services.ts';
import { note } from './account-notes.ts';
import { setCookies } from './cookies.ts';
import type { AccountContext } from './sign-in-limits.ts';

const common = { tags: ['account'], security: [{ session: [] }] };
const config = { policy: 'person' } as const;
const ended = Type.Null({ description: 'Ended.' });

/** A person's own account: name, password, and the browsers they are signed in with. */
export function accountRoutes(app: App, context: AccountContext): void {
  const { services, people, limits } = context;
  const { accounts, directory, signIn, tenancy, now } = services;

  app.patch(
    '/api/account',
    {
      config,
      schema: {
        ...common,
        summary: 'Change one’s own name',
        body: AccountPatch,
        response: { 200: Person, ...problems(400, 401, 403, 503) },
      },
    },
    async (request) => {
      const { person } = request.person;
      const name = request.body.name.trim();
      await accounts.rename(person.id, name, now());
      await note(context, person.id, 'account.rename', { from: person.name, to: name });
      // Pages of members show it.
      const memberships = await directory.members.ofPerson(person.id);
      await Promise.all(memberships.map(({ tenant }) => tenancy.refresh(tenant.id)));
      return { ...person, name };
    },
  );

  app.post(
    '/api/account/password',
    {
      config,
      schema: {
        ...common,
        summary: 'Change one’s own password; every other session ends',
        body: PasswordChange,
        response: { 204: Type.Null({ description: 'Changed.' }), ...problems(400, 401, 403, 409, 503) },
      },
    },
    async (request, reply) => {
      const { person, session } = request.person;
      limits.take(request, reply, session.id);
      const change = { person: request.person, ...request.body };
      const { cookies } = await signIn.changePassword(people.visit(request), change);
      limits.proven(request, person.email);
      await note(context, person.id, 'account.password', {});
      setCookies(reply, cookies);
      return reply.code(204).send(null);
    },
  );

  sessionListRoutes(app, context);
}

function sessionListRoutes(app: App, context: AccountContext): void {
  const { accounts, now } = context.services;

  app.get(
    '/api/account/sessions',
    {
      config,
      schema: {
        ...common,
        summary: 'Where one is signed in, the last used first',
        response: { 200: AccountSessionList, ...problems(401, 403) },
      },
    },
    async ({ person: { person, session } }) => ({
      sessions: (await accounts.sessionsOf(person.id, now())).map((each) => sessionView(each, session.id)),
    }),
  );

  app.delete(
    '/api/account/sessions/:id',
    {
      config: { policy: 'proven' },
      schema: {
        ...common,
        summary: 'End one of one’s sessions',
        params: Type.Object({ id: Type.String() }),
        response: { 204: ended, ...problems(401, 403, 404, 503) },
      },
    },
    async ({ person: { person }, params }, reply) => {
      if (!(await accounts.endSession(person.id, params.id))) throw notFound('session');
      await note(context, person.id, 'session.end', { sessions: 1 });
      return reply.code(204).send(null);
    },
  );

  app.delete(
    '/api/account/sessions',
    {
      config: { policy: 'proven' },
      schema: {
        ...common,
        summary: 'End all of one’s sessions but this one',
        response: { 204: ended, ...problems(401, 403, 503) },
      },
    },
    async ({ person: { person, session } }, reply) => {
      const sessions = await accounts.endSessions(person.id, session.id);
      if (sessions > 0) await note(context, person.id, 'session.end', { sessions });
      return reply.code(204).send(null);
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
