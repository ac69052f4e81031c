import { uuidv7 } from 'uuidv7';
import { SavedSearch, SavedSearchList, SavedSearchPut } from '#contract/history/search.ts';
import { notFound, requireFound } from '#core/errors.ts';
import { actorOf } from '#core/people/access.ts';
import { iso } from '#core/time.ts';
import { IdPath, NoContent, problems, route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';
import { queryOf } from './history-query.ts';

/** Searches that a tenant saved under a name. */
export function searchRoutes(app: App, services: Services): void {
  const { directory, now } = services;
  const { savedSearches } = directory;

  app.get(
    '/api/searches',
    route('viewer', { summary: 'Saved searches, by name', response: { 200: SavedSearchList } }),
    async ({ principal }) => ({ searches: [...(await savedSearches.list(principal.tenant))] }),
  );

  app.post(
    '/api/searches',
    route('member', {
      summary: 'Save a search',
      body: SavedSearchPut,
      response: { 201: SavedSearch, ...problems(409) },
    }),
    async ({ principal, body }, reply) => {
      await queryOf(services, principal.tenant, body.q);
      const at = now();
      const createdBy = actorOf(principal);
      const search = { id: uuidv7(), name: body.name.trim(), q: body.q, createdAt: iso(at), createdBy };
      await savedSearches.add(principal.tenant, search, createdBy, at);
      reply.code(201);
      return search;
    },
  );

  app.put(
    '/api/searches/:id',
    route('member', {
      summary: 'Change a saved search',
      params: IdPath,
      body: SavedSearchPut,
      response: { 200: SavedSearch, ...problems(409) },
    }),
    async ({ principal, params, body: { name, q } }) => {
      const { tenant } = principal;
      await queryOf(services, tenant, q);
      const wanted = { name: name.trim(), q };
      const search = await savedSearches.update(tenant, params.id, wanted, actorOf(principal), now());
      return requireFound(search, 'saved search');
    },
  );

  app.delete(
    '/api/searches/:id',
    route('member', { summary: 'Delete a saved search', params: IdPath, response: { 204: NoContent } }),
    async ({ principal, params }, reply) => {
      if (!(await savedSearches.remove(principal.tenant, params.id, actorOf(principal), now())))
        throw notFound('saved search');
      return reply.code(204).send(null);
    },
  );
}
