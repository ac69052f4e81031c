import {
  Passkey,
  PasskeyAdd,
  PasskeyList,
  PasskeyOptions,
  PasskeyResponse,
  SignedIn,
} from '#contract/people/account.ts';
import { requireFound } from '#core/errors.ts';
import type { PasskeyRecord } from '#core/people/sign-in.ts';
import { iso } from '#core/time/time.ts';
import { IdPath, NoContent, problems, route } from '../openapi/route-schemas.ts';
import type { App } from '../services.ts';
import { type AccountContext, note, setCookies, signedIn } from './account-context.ts';

/** Passkeys: signing in with one, and managing one's own. */
export function passkeyRoutes(app: App, context: AccountContext): void {
  signInRoutes(app, context);
  ownRoutes(app, context);
}

function signInRoutes(app: App, context: AccountContext): void {
  const { services, people, limits } = context;
  const { signIn } = services;

  app.post(
    '/api/session/passkey/options',
    route('public', {
      tags: ['account'],
      summary: 'Begin to sign in with a passkey: the options for navigator.credentials.get()',
      response: { 200: PasskeyOptions, ...problems(403) },
    }),
    async (request, reply) => {
      const visit = people.visit(request);
      await limits.take(request, reply);
      const { options, cookies } = await signIn.passkeyOptions(visit);
      setCookies(reply, cookies);
      return options;
    },
  );

  app.post(
    '/api/session/passkey',
    route('public', {
      tags: ['account'],
      summary: 'Sign in with the response of a passkey',
      description: 'A passkey verifies its owner, so no second factor is asked for.',
      body: PasskeyResponse,
      response: { 200: SignedIn, ...problems(401, 403) },
    }),
    async (request, reply) => {
      const visit = people.visit(request);
      await limits.take(request, reply);
      const { cookies, personId } = await signIn.withPasskey(visit, request.body.response);
      await note(context, personId, 'session.begin', { from: visit.source, with: 'passkey' });
      return signedIn(reply, cookies);
    },
  );
}

function ownRoutes(app: App, context: AccountContext): void {
  const { services, people } = context;
  const { signIn } = services;

  app.get(
    '/api/account/passkeys',
    route('person', {
      summary: 'The person’s passkeys, oldest first',
      response: { 200: PasskeyList },
    }),
    async ({ person: { person } }) => ({ passkeys: (await signIn.passkeys(person.id)).map(passkeyView) }),
  );

  app.post(
    '/api/account/passkeys/options',
    route('proven', {
      summary: 'Begin to add a passkey: the options for navigator.credentials.create()',
      response: { 200: PasskeyOptions, ...problems(409) },
    }),
    async (request, reply) => {
      const { options, cookies } = await signIn.newPasskeyOptions(people.visit(request));
      setCookies(reply, cookies);
      return options;
    },
  );

  app.post(
    '/api/account/passkeys',
    route('proven', {
      summary: 'Add a passkey',
      body: PasskeyAdd,
      response: { 201: Passkey, ...problems(409) },
    }),
    async (request) => {
      const { name, response } = request.body;
      const made = await signIn.addPasskey(people.visit(request), name, response);
      await note(context, request.person.person.id, 'account.passkey.add', { name: made.name });
      return passkeyView(made);
    },
  );

  app.delete(
    '/api/account/passkeys/:id',
    route('proven', { summary: 'Remove a passkey', params: IdPath, response: { 204: NoContent } }),
    async ({ person: { person }, params }) => {
      requireFound(await signIn.removePasskey(person.id, params.id), 'passkey');
      await note(context, person.id, 'account.passkey.remove', {});
    },
  );
}

function passkeyView({ id, name, createdAt }: PasskeyRecord): Passkey {
  return { id, name, createdAt: iso(createdAt) };
}
