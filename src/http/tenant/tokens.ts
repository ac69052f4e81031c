import { Type } from 'typebox';
import { Token, TokenCreate, TokenCreated, TokenList, TokenPatch } from '#contract/token.ts';
import { actorOf } from '#core/access.ts';
import { newToken, tokenChange, tokenView } from '#core/credentials.ts';
import { notFound } from '#core/errors.ts';
import { problems } from '../responses.ts';
import type { App, Services } from '../services.ts';

const Id = Type.Object({ id: Type.String() });

/** API tokens: what senders, screens and scrapers come with. */
export function tokenRoutes(app: App, { directory, tenancy, now }: Services): void {
  const { credentials } = directory;
  const policy = { role: 'admin' } as const;
  const common = { tags: ['dashboard'], security: [{ key: [] }] };

  app.get(
    '/api/tokens',
    {
      config: { policy },
      schema: {
        ...common,
        summary: 'All tokens, without their secrets; revoked ones included',
        response: { 200: TokenList, ...problems(401, 403) },
      },
    },
    async ({ principal }) => ({ tokens: (await credentials.list(principal.tenant, 'token')).map(tokenView) }),
  );

  app.post(
    '/api/tokens',
    {
      config: { policy },
      schema: {
        ...common,
        summary: 'Make a token',
        description: 'The answer holds the token, which is never shown again. No scope chosen: all three.',
        body: TokenCreate,
        response: { 201: TokenCreated, ...problems(400, 401, 403, 503) },
      },
    },
    async ({ principal, body }, reply) => {
      const { record, text } = newToken(principal.tenant, body, actorOf(principal), now());
      await credentials.add(record, principal);
      reply.code(201).header('cache-control', 'no-store');
      return { ...tokenView(record), token: text };
    },
  );

  app.patch(
    '/api/tokens/:id',
    {
      config: { policy },
      schema: {
        ...common,
        summary: 'Change a token; fields that are not named keep their value',
        params: Id,
        body: TokenPatch,
        response: { 200: Token, ...problems(400, 401, 403, 404, 503) },
      },
    },
    async ({ principal, params, body }) => {
      const { tenant } = principal;
      const change = tokenChange(body, now());
      const record = await credentials.update(tenant, 'token', params.id, change, actorOf(principal), now());
      if (!record) throw notFound('token');
      await tenancy.refresh(tenant);
      return tokenView(record);
    },
  );

  app.delete(
    '/api/tokens/:id',
    {
      config: { policy },
      schema: {
        ...common,
        summary: 'Revoke a token; its record stays',
        params: Id,
        response: { 204: Type.Null({ description: 'Revoked.' }), ...problems(401, 403, 404, 503) },
      },
    },
    async ({ principal, params }, reply) => {
      const { tenant } = principal;
      if (!(await credentials.revoke(tenant, 'token', params.id, actorOf(principal), now())))
        throw notFound('token');
      await tenancy.refresh(tenant);
      return reply.code(204).send(null);
    },
  );
}
