import type { Ref, TenantId } from '../../core/ports.ts';
import { parseQuery } from '../../core/search/search.ts';
import type { Query } from '../../core/search/search-query.ts';
import type { Services } from '../services.ts';

/**
 * A query's text, with the names of this tenant's levels, panels, tokens and rules.
 * @throws AppError `bad-request` that names what is wrong, and where.
 */
export async function queryOf(
  { tenancy, directory, now }: Services,
  tenant: TenantId,
  text: string | undefined,
): Promise<Query> {
  const snapshot = await tenancy.get(tenant);
  const needs = (key: string) => text?.toLowerCase().includes(`${key}:`) ?? false;
  // Read only when the query speaks of them: most do not.
  const tokens: readonly Ref[] = needs('token') ? await directory.credentials.list(tenant, 'token') : [];
  const rules: readonly Ref[] = needs('rule')
    ? (await directory.rules.list(tenant)).map(({ id, name }) => ({ id, name }))
    : [];
  return parseQuery(text ?? '', {
    now: now(),
    timeZone: snapshot.record.timeZone,
    levels: [...snapshot.levels.values()],
    panels: [...snapshot.panels.values()],
    tokens,
    rules,
  });
}
