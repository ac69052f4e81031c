import { Type } from 'typebox';
import { limits } from '#contract/limits.ts';
import type { Directory } from '#core/directory.ts';
import { ownSenders } from '#core/own-sender.ts';
import type { Ref, TenantId } from '#core/ports.ts';
import { parseQuery } from '#core/search/search.ts';
import type { Query } from '#core/search/search-query.ts';
import type { TenantSnapshot } from '#core/tenancy.ts';
import type { Services } from '../services.ts';

/** The parameter of a request. */
export const q = Type.Optional(
  Type.String({ maxLength: limits.queryChars, description: 'A query; empty finds everything.' }),
);

/**
 * Parses a query, with the names of this tenant's levels, panels, tokens and rules, including deleted ones.
 * @throws AppError `bad-request` with the problem and its position.
 */
export async function queryOf(
  { tenancy, directory, now }: Services,
  tenant: TenantId,
  text: string | undefined,
): Promise<Query> {
  const { record, levels, panels, router } = await tenancy.get(tenant);
  // Names are read only if the query may use them; most queries do not.
  const readFor = async <T>(key: string, read: () => Promise<readonly T[]>): Promise<readonly T[]> =>
    text?.toLowerCase().includes(`${key}:`) ? read() : [];
  const [deletedLevels, deletedPanels, tokens, formerRules] = await Promise.all([
    readFor('level', () => directory.levels.deleted(tenant)),
    readFor('panel', () => directory.panels.deleted(tenant)),
    readFor<Ref>('token', async () => [
      ...(await directory.credentials.list(tenant, 'token')),
      ...ownSenders,
    ]),
    readFor('rule', () => formerNames(directory, tenant, router)),
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

/** Former rule names by router. The router stays the same object until the rules change. */
const knownFormerNames = new WeakMap<TenantSnapshot['router'], Promise<readonly Ref[]>>();

/** Cached, because a tenant may have hundreds of thousands of former rule versions. */
function formerNames(
  { rules }: Pick<Directory, 'rules'>,
  tenant: TenantId,
  router: TenantSnapshot['router'],
): Promise<readonly Ref[]> {
  const known = knownFormerNames.get(router);
  if (known) return known;
  const names = rules.formerNames(tenant);
  knownFormerNames.set(router, names);
  names.catch(() => knownFormerNames.delete(router));
  return names;
}
