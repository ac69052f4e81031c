import { Type } from 'typebox';
import { Passkey, PasskeyAdd, PasskeyList } from '#contract/account.ts';
import { PasskeyOptions, PasskeyResponse, SignedIn } from '#contract/session.ts';
import { notFound } from '#core/errors.ts';
import type { PasskeyRecord } from '#core/sign-in.ts';
import { iso } from '#core/stream/frames.ts';
import { problems } from '../responses.ts';
import type { App } from '../services.ts';
import { note } from './account-notes.ts';
import { setCookies } from './cookies.ts';
import type { AccountContext } from './sign-in-limits.ts';

const own = { tags: ['account'], security: [{ session: [] }] };
const config = { policy: 'person' } as const;
/** It changes how one signs in. */
const change = { policy: 'proven' } as const;

/** Passkeys: signing in with one, and one's own. */
export function passkeyRoutes(app: App, context: AccountContext): void {
  signInRoutes(app, context);
  ownRoutes(app, context);
}

function signInRoutes(app: App, context: AccountContext): void {
  const { services, people, limits } = context;
  const { signIn } = services;

  app.post(
    '/api/session/passkey/options',
    {
      config: { policy: 'public' },
      schema: {
        tags: ['account'],
        summary: 'Begin to sign in with a passkey: the options for navigator.credentials.get()',
        response: { 200: PasskeyOptions, ...problems(403, 429, 503) },
      },
    },
    async (request, reply) => {
      const visit = people.visit(request);
      limits.take(request, reply);
      const { options, cookies } = await signIn.passkeyOptions(visit);
      setCookies(reply, cookies);
      return options;
    },
  );

  app.post(
    '/api/session/passkey',
    {
      config: { policy: 'public' },
      schema: {
        tags: ['account'],
        summary: 'Sign in with what the passkey answered',
        description: 'A passkey has seen its owner, and stands for both factors.',
        body: PasskeyResponse,
        response: { 200: SignedIn, ...problems(400, 401, 403, 503) },
      },
    },
    async (request, reply) => {
      const visit = people.visit(request);
      limits.take(request, reply);
      const { cookies, personId } = await signIn.withPasskey(visit, request.body.response);
      await note(context, personId, 'session.begin', { from: visit.source, with: 'passkey' });
      setCookies(reply, cookies);
      return { ok: true as const, twoFactor: false };
    },
  );
}

function ownRoutes(app: App, context: AccountContext): void {
  const { services, people } = context;
  const { signIn } = services;

  app.get(
    '/api/account/passkeys',
    {
      config,
      schema: {
        ...own,
        summary: 'One’s own passkeys, the oldest first',
        response: { 200: PasskeyList, ...problems(401, 403) },
      },
    },
    async ({ person: { person } }) => ({ passkeys: (await signIn.passkeys(person.id)).map(passkeyView) }),
  );

  app.post(
    '/api/account/passkeys/options',
    {
      config: change,
      schema: {
        ...own,
        summary: 'Begin to add a passkey: the options for navigator.credentials.create()',
        response: { 200: PasskeyOptions, ...problems(401, 403, 503) },
      },
    },
    async (request, reply) => {
      const { options, cookies } = await signIn.newPasskeyOptions(people.visit(request));
      setCookies(reply, cookies);
      return options;
    },
  );

  app.post(
    '/api/account/passkeys',
    {
      config: change,
      schema: {
        ...own,
        summary: 'Add the passkey that was made',
        body: PasskeyAdd,
        response: { 201: Passkey, ...problems(400, 401, 403, 503) },
      },
    },
    async (request, reply) => {
      const { name, response } = request.body;
      const made = await signIn.addPasskey(people.visit(request), name, response);
      await note(context, request.person.person.id, 'account.passkey.add', { name: made.name });
      reply.code(201);
      return passkeyView(made);
    },
  );

  app.delete(
    '/api/account/passkeys/:id',
    {
      config: change,
      schema: {
        ...own,
        summary: 'Remove a passkey',
        params: Type.Object({ id: Type.String() }),
        response: { 204: Type.Null({ description: 'Removed.' }), ...problems(401, 403, 404, 503) },
      },
    },
    async ({ person: { person }, params }, reply) => {
      if (!(await signIn.removePasskey(person.id, params.id))) throw notFound('passkey');
      await note(context, person.id, 'account.passkey.remove', {});
      return reply.code(204).send(null);
    },
  );
}

function passkeyView({ id, name, createdAt }: PasskeyRecord): Passkey {
  return { id, name, createdAt: iso(createdAt) };
}
