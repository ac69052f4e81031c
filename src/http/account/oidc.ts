import { Type } from 'typebox';
import { component } from '#contract/schema.ts';
import { problems, route } from '../openapi/route-schemas.ts';
import type { App } from '../services.ts';
import { type AccountContext, note, setCookies } from './account-context.ts';

const ProviderPath = Type.Object({ provider: Type.String() });
const Begin = component('ProviderSignIn', { returnTo: Type.Optional(Type.String({ maxLength: 2_000 })) });
/** Other parameters of the provider are ignored. */
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
const Address = component('ProviderAddress', { url: Type.String() });

/** Signing in with an identity provider. */
export function oidcRoutes(app: App, context: AccountContext): void {
  const { services, people, limits } = context;
  const { signIn } = services;

  app.post(
    '/api/session/oidc/:provider',
    route('public', {
      tags: ['account'],
      summary: 'Begin to sign in with an identity provider: the URL to go to',
      description: '`returnTo` is a path of this server.',
      params: ProviderPath,
      body: Begin,
      response: { 200: Address, ...problems(403) },
    }),
    async (request, reply) => {
      const visit = people.visit(request);
      await limits.take(request, reply);
      const { provider } = request.params;
      const { url, cookies } = await signIn.providerUrl(visit, provider, request.body.returnTo ?? '/');
      setCookies(reply, cookies);
      return { url };
    },
  );

  app.get(
    '/api/session/oidc/:provider/callback',
    route('public', {
      tags: ['account'],
      summary: 'Where the identity provider sends the browser back to',
      description: 'Redirects to `returnTo`, or to /sign-in with `error` in the query.',
      params: ProviderPath,
      querystring: Back,
      response: {
        302: Type.Null({ description: 'Back to the pages.' }),
      },
    }),
    async (request, reply) => {
      await limits.take(request, reply);
      // The code works once, so a HEAD request must not use it.
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
