import { Type } from 'typebox';
import { KeyCreate, KeyCreated, KeyList } from '#contract/token.ts';
import { actorOf } from '#core/access.ts';
import { assertMayGrantRole, keyView, newKey, withinCreator } from '#core/credentials.ts';
import { notFound } from '#core/errors.ts';
import { problems } from '../responses.ts';
import type { App, Services } from '../services.ts';

/** Automation keys: what scripts call the dashboard's side of the API with. */
export function keyRoutes(app: App, { directory, tenancy, now }: Services): void {
  const { credentials } = directory;
  const policy = { role: 'admin' } as const;
  const common = { tags: ['dashboard'], security: [{ key: [] }] };

  app.get(
    '/api/keys',
    {
      config: { policy },
      schema: {
        ...common,
        summary: 'All automation keys, without their secrets; revoked ones included',
        response: { 200: KeyList, ...problems(401, 403) },
      },
    },
    async ({ principal }) => ({ keys: (await credentials.list(principal.tenant, 'key')).map(keyView) }),
  );

  app.post(
    '/api/keys',
    {
      config: { policy },
      schema: {
        ...common,
        summary: 'Make an automation key',
        description:
          'The answer holds the key, which is never shown again. Its role is at most the caller’s own, and it ends with its maker’s right to give that role. A key makes none that lives longer or is good from more addresses than itself; what is not named is as its own.',
        body: KeyCreate,
        response: { 201: KeyCreated, ...problems(400, 401, 403, 503) },
      },
    },
    async ({ principal, body }, reply) => {
      assertMayGrantRole(principal, body.role);
      const creator = principal.kind === 'key' ? await credentials.find(principal.id) : undefined;
      const wanted = withinCreator(body, creator);
      const { record, text } = newKey(principal.tenant, wanted, actorOf(principal), now());
      await credentials.add(record, principal);
      reply.code(201).header('cache-control', 'no-store');
      return { ...keyView(record), key: text };
    },
  );

  app.delete(
    '/api/keys/:id',
    {
      config: { policy },
      schema: {
        ...common,
        summary: 'Revoke an automation key; its record stays',
        description:
          'Keys that it made are revoked with it, and invitations made by a key of these names that wait are withdrawn.',
        params: Type.Object({ id: Type.String() }),
        response: { 204: Type.Null({ description: 'Revoked.' }), ...problems(401, 403, 404, 503) },
      },
    },
    async ({ principal, params }, reply) => {
      const { tenant } = principal;
      const key = await credentials.find(params.id);
      if (!key || key.tenant !== tenant || key.kind !== 'key') throw notFound('key');
      assertMayGrantRole(principal, key.role);
      await credentials.revoke(tenant, 'key', key.id, actorOf(principal), now());
      await tenancy.refresh(tenant);
      return reply.code(204).send(null);
    },
  );
}
