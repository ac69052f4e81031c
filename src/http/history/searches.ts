import { Type } from 'typebox';
import { uuidv7 } from 'uuidv7';
import { SavedSearch, SavedSearchList, SavedSearchPut } from '#contract/history/search.ts';
import { limits } from '#contract/limits.ts';
import { AppError, notFound, requireFound } from '#core/errors.ts';
import { ownSenders } from '#core/intake/own-sender.ts';
import type { Ref, TenantId } from '#core/log/route.ts';
import { actorOf } from '#core/people/access.ts';
import { parseQuery } from '#core/search/search-parser.ts';
import type { Query } from '#core/search/search-query.ts';
import type { TenantSnapshot } from '#core/tenants/tenancy.ts';
import { iso } from '#core/time/time.ts';
import { IdPath, NoContent, problems, route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';

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
    async ({ principal, body }) => {
      await queryOf(services, principal.tenant, body.q);
      const at = now();
      const createdBy = actorOf(principal);
      const search = { ...body, id: uuidv7(), name: body.name.trim(), createdAt: iso(at), createdBy };
      await savedSearches.add(principal.tenant, search, createdBy, at);
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
    async ({ principal, params, body }) => {
      const { tenant } = principal;
      await queryOf(services, tenant, body.q);
      const wanted = { ...body, name: body.name.trim() };
      const search = await savedSearches.update(tenant, params.id, wanted, actorOf(principal), now());
      return requireFound(search, 'saved search');
    },
  );

  app.delete(
    '/api/searches/:id',
    route('member', { summary: 'Delete a saved search', params: IdPath, response: { 204: NoContent } }),
    async ({ principal, params }) => {
      if (!(await savedSearches.remove(principal.tenant, params.id, actorOf(principal), now())))
        throw notFound('saved search');
    },
  );
}

/** The parameter of a request. */
export const q = Type.Optional(
  Type.String({ maxLength: limits.queryChars, description: 'A query; empty finds everything.' }),
);

/**
 * Parses a query, with the names of this tenant's levels, panels, tokens and rules, including deleted ones.
 * @throws AppError `bad-request` with the problem and its position.
 */
export async function queryOf(
  services: Services,
  tenant: TenantId,
  text: string | undefined,
): Promise<Query> {
  const { tenancy } = services;
  const snapshot = await tenancy.get(tenant);
  try {
    return await queryIn(services, snapshot, tenant, text);
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'query.unknown-value')) throw error;
    // A name that is unknown here may have just been given on another node.
    const current = await tenancy.current(tenant);
    if (current === snapshot) throw error;
    return queryIn(services, current, tenant, text);
  }
}

async function queryIn(
  { directory, now }: Services,
  { record, levels, panels, router }: TenantSnapshot,
  tenant: TenantId,
  text: string | undefined,
): Promise<Query> {
  // Names are read only if the query may use them; most queries do not.
  const readFor = async <T>(key: string, read: () => Promise<readonly T[]>): Promise<readonly T[]> =>
    text?.toLowerCase().includes(`${key}:`) ? read() : [];
  const [deletedLevels, deletedPanels, tokens, formerRules] = await Promise.all([
    readFor('level', () => readOnce(levels, () => directory.levels.deleted(tenant))),
    readFor('panel', () => readOnce(panels, () => directory.panels.deleted(tenant))),
    readFor<Ref>('token', async () => [
      ...(await directory.credentials.list(tenant, 'token')),
      ...ownSenders,
    ]),
    readFor('rule', () => readOnce(router, () => directory.rules.formerNames(tenant))),
  ]);
  return parseQuery(text ?? '', {
    now: now(),
    timeZone: record.timeZone,
    levels: [...levels.values(), ...deletedLevels.filter(({ name }) => !levels.has(name))],
    panels: [...panels.values()],
    deletedPanels,
    tokens,
    rules: [...router.rules.map(({ ref }) => ref), ...formerRules],
  });
}

/** Names of deleted levels, panels and rules. The key is the snapshot's map, which is replaced on each change. Without a limit: few are deleted. */
const knownNames = new WeakMap<object, Promise<readonly unknown[]>>();

/** Cached, because a read delays a search, and a tenant may have hundreds of thousands of former rule versions. */
function readOnce<T>(part: object, read: () => Promise<readonly T[]>): Promise<readonly T[]> {
  const known = knownNames.get(part) as Promise<readonly T[]> | undefined;
  if (known) return known;
  const names = read();
  knownNames.set(part, names);
  names.catch(() => knownNames.delete(part));
  return names;
}
