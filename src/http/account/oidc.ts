import { Type } from 'typebox';
import { problems } from '../responses.ts';
import type { App } from '../services.ts';
import { note } from './account-notes.ts';
import { setCookies } from './cookies.ts';
import type { AccountContext } from './sign-in-limits.ts';

const ProviderPath = Type.Object({ provider: Type.String() });
const Begin = Type.Object(
  { returnTo: Type.Optional(Type.String({ maxLength: 2_000 })) },
  { title: 'ProviderSignIn', additionalProperties: false },
);
/** What a provider may send besides is none of ours. */
const Back = Type.Partial(
  Type.Object(
    Object.fromEntries(
      ['code', 'state', 'error', 'error_description', 'iss'].map((name) => [
        name,
        Type.String({ maxLength: 4_000 }),
      ]),
    ),
  ),
  { title: 'ProviderAnswer' },
);
const Address = Type.Object(
  { url: Type.String() },
  { title: 'ProviderAddress', additionalProperties: false },
);

/** Signing in with an identity provider. */
export function oidcRoutes(app: App, context: AccountContext): void {
  const { services, people, limits } = context;
  const { signIn } = services;

  app.post(
    '/api/session/oidc/:provider',
    {
      config: { policy: 'public' },
      schema: {
        tags: ['account'],
        summary: 'Begin to sign in with an identity provider: where the browser is to go',
        description: '`returnTo` is a path of this server to come back to.',
        params: ProviderPath,
        body: Begin,
        response: { 200: Address, ...problems(400, 403, 404, 429, 503) },
      },
    },
    async (request, reply) => {
      const visit = people.visit(request);
      limits.take(request, reply);
      const { provider } = request.params;
      const { url, cookies } = await signIn.providerUrl(visit, provider, request.body.returnTo ?? '/');
      setCookies(reply, cookies);
      return { url };
    },
  );

  app.get(
    '/api/session/oidc/:provider/callback',
    {
      config: { policy: 'public' },
      schema: {
        tags: ['account'],
        summary: 'Where the identity provider sends the browser back to',
        description: 'Goes on at the path that was asked for, or at /sign-in with `error` in the query.',
        params: ProviderPath,
        querystring: Back,
        response: {
          302: Type.Null({ description: 'Back to the pages.' }),
          ...problems(400, 404, 429, 503),
        },
      },
    },
    async (request, reply) => {
      limits.take(request, reply);
      // The code works once: only a browser that really comes may use it up.
      if (request.method === 'HEAD') return reply.code(302).header('location', '/sign-in').send(null);
      const { provider } = request.params;
      const visit = people.visit(request);
      const { path, personId, cookies } = await signIn.fromProvider(visit, provider, request.query);
      if (personId !== undefined)
        await note(context, personId, 'session.begin', { from: visit.source, with: provider });
      setCookies(reply, cookies);
      return reply.code(302).header('location', path).send(null);
    },
  );
}
