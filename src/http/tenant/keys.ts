import { KeyCreate, KeyCreated, KeyList } from '#contract/people/token.ts';
import { notFound } from '#core/errors.ts';
import { actorOf } from '#core/people/access.ts';
import { assertMayGrantRole, keyView, newKey, withinCreator } from '#core/people/credentials.ts';
import { IdPath, NoContent, problems, route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';

/** Automation keys, with which scripts call what the dashboard calls. */
export function keyRoutes(app: App, { directory, tenancy, now }: Services): void {
  const { credentials } = directory;

  app.get(
    '/api/keys',
    route(
      'admin',
      {
        summary: 'All automation keys, without their secrets; revoked ones included',
        response: { 200: KeyList },
      },
      { expensive: 'list' },
    ),
    async ({ principal }) => ({ keys: (await credentials.list(principal.tenant, 'key')).map(keyView) }),
  );

  app.post(
    '/api/keys',
    route('admin', {
      summary: 'Create an automation key',
      description:
        'The answer contains the key, which is never shown again. Its role is at most the caller’s own, and it ends when its creator may no longer give that role. A key creates no key that lasts longer or is valid from more addresses than itself; its own values are the defaults.',
      body: KeyCreate,
      response: { 201: KeyCreated, ...problems(409) },
    }),
    async ({ principal, body }, reply) => {
      assertMayGrantRole(principal, body.role);
      const creator = principal.kind === 'key' ? await credentials.find(principal.id) : undefined;
      const wanted = withinCreator(body, creator);
      const { record, text } = newKey(principal.tenant, wanted, actorOf(principal), now());
      await credentials.add(record, principal);
      reply.code(201);
      return { ...keyView(record), key: text };
    },
  );

  app.delete(
    '/api/keys/:id',
    route('admin', {
      summary: 'Revoke an automation key; its record stays',
      description:
        'Keys that it created are revoked too, and pending invitations by keys with these names are withdrawn.',
      params: IdPath,
      response: { 204: NoContent },
    }),
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
