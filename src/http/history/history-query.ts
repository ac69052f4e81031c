import type { TenantId } from '../../core/ports.ts';
import { parseQuery } from '../../core/search/search.ts';
import type { Query } from '../../core/search/search-query.ts';
import type { Services } from '../services.ts';

/**
 * A query's text, with the names of this tenant's levels, panels, tokens and rules, deleted ones included.
 * @throws AppError `bad-request` that names what is wrong, and where.
 */
export async function queryOf(
  { tenancy, directory, now }: Services,
  tenant: TenantId,
  text: string | undefined,
): Promise<Query> {
  const { record, levels, panels } = await tenancy.get(tenant);
  // Read only when the query has such a term: most have none.
  const readFor = async <T>(key: string, read: () => Promise<readonly T[]>): Promise<readonly T[]> =>
    text?.toLowerCase().includes(`${key}:`) ? read() : [];
  const [deletedLevels, deletedPanels, tokens, rules, formerRules] = await Promise.all([
    readFor('level', () => directory.levels.deleted(tenant)),
    readFor('panel', () => directory.panels.deleted(tenant)),
    readFor('token', () => directory.credentials.list(tenant, 'token')),
    readFor('rule', () => directory.rules.list(tenant)),
    readFor('rule', () => directory.rules.formerNames(tenant)),
  ]);
  return parseQuery(text ?? '', {
    now: now(),
    timeZone: record.timeZone,
    levels: [...levels.values(), ...deletedLevels.filter(({ name }) => !levels.has(name))],
    panels: [...panels.values()],
    deletedPanels,
    tokens,
    rules: [...rules, ...formerRules],
  });
}
