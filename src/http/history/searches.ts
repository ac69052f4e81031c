import { Type } from 'typebox';
import { uuidv7 } from 'uuidv7';
import { SavedSearch, SavedSearchList, SavedSearchPut } from '#contract/search.ts';
import { actorOf } from '#core/access.ts';
import { notFound } from '#core/errors.ts';
import { iso } from '#core/stream/frames.ts';
import { problems } from '../responses.ts';
import type { App, Services } from '../services.ts';
import { queryOf } from './history-query.ts';

/** Searches that a tenant keeps under a name. */
export function searchRoutes(app: App, services: Services): void {
  const { savedSearches } = services.directory;
  const common = { tags: ['dashboard'], security: [{ key: [] }] };

  app.get(
    '/api/searches',
    {
      config: { policy: { role: 'viewer' } },
      schema: {
        ...common,
        summary: 'Saved searches, by name',
        response: { 200: SavedSearchList, ...problems(401, 403) },
      },
    },
    async ({ principal }) => ({ searches: [...(await savedSearches.list(principal.tenant))] }),
  );

  app.post(
    '/api/searches',
    {
      config: { policy: { role: 'member' } },
      schema: {
        ...common,
        summary: 'Save a search',
        body: SavedSearchPut,
        response: { 201: SavedSearch, ...problems(400, 401, 403, 409, 503) },
      },
    },
    async ({ principal, body }, reply) => {
      await queryOf(services, principal.tenant, body.q);
      const at = services.now();
      const createdBy = actorOf(principal);
      const search = { id: uuidv7(), name: body.name.trim(), q: body.q, createdAt: iso(at), createdBy };
      await savedSearches.add(principal.tenant, search, createdBy, at);
      reply.code(201);
      return search;
    },
  );

  app.delete(
    '/api/searches/:id',
    {
      config: { policy: { role: 'member' } },
      schema: {
        ...common,
        summary: 'Forget a saved search',
        params: Type.Object({ id: Type.String() }),
        response: { 204: Type.Null({ description: 'Forgotten.' }), ...problems(401, 403, 404, 503) },
      },
    },
    async ({ principal, params }, reply) => {
      const removed = await savedSearches.remove(
        principal.tenant,
        params.id,
        actorOf(principal),
        services.now(),
      );
      if (!removed) throw notFound('saved search');
      return reply.code(204).send(null);
    },
  );
}
