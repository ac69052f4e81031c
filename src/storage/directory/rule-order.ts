/**
 * The versions and the order of a tenant's rules. `tenants.rules_revision` counts the changes; a version of a rule begins and ends
 * with a revision. The order is a column of ordinals, with gaps; they may be negative.
 */
import { type Expression, type SqlBool, sql } from 'kysely';
import { conflict } from '#core/errors.ts';
import type { TenantId } from '#core/log/route.ts';
import type { Actor } from '#core/tenants/audit.ts';
import type { Database, Statement } from '../database/sql.ts';
import { change } from './change.ts';

/** SQL: the current revision, read inside the statement that uses it. */
export function currentRevision(tenant: TenantId): Expression<number> {
  return sql<number>`(select rules_revision from tenants where tenants.id = ${tenant})`;
}

export function bumpRevision(tenant: TenantId, when: Expression<SqlBool>): Statement {
  return sql`update tenants set rules_revision = rules_revision + 1 where id = ${tenant} and ${when}`;
}

/** Ends the versions in force with the current revision. */
export function endVersion(tenant: TenantId, ids: readonly string[], when: Expression<SqlBool>): Statement {
  return sql`update rules set until = ${currentRevision(tenant)}
    where tenant = ${tenant} and id in (${sql.join(ids)}) and until is null and ${when}`;
}

export interface Move {
  readonly id: string;
  readonly ordinal: number;
}

/** Each statement is padded to this many moves with a dummy id, so that one prepared statement fits any number. */
const chunkRows = 256;
const unusedMove: Move = { id: '', ordinal: 0 };
/** Between the ordinals of neighbours, so that a rule can move without the others. */
const gap = 2 ** 20;
const attempts = 20;
const mostListed = 40;

/**
 * Puts a tenant's rules in the order of `ids`; only rules that move get a new version. False when `ids` does not name every
 * rule once. The moves are computed from the current order, and computed again if a rule changes before they are written.
 */
export async function reorder(
  db: Database,
  { tenant, ids, by, at }: { tenant: TenantId; ids: readonly string[]; by: Actor; at: number },
): Promise<boolean> {
  const outcome = await onOrder(db, tenant, async ({ revision, rules }) => {
    const before = rules.map(({ id }) => id);
    const named = new Set(ids);
    const isWhole = ids.length === before.length && named.size === ids.length;
    if (!isWhole || !before.every((id) => named.has(id))) return 'refused';
    const moves = placesFor(ids, rules);
    if (moves.length === 0) return 'done';
    const { done } = await change(db, {
      entry: {
        tenant,
        by,
        at,
        action: 'rule.order',
        subject: 'rules',
        detail: orderDetail(moves.length, before, ids),
      },
      when: sql<SqlBool>`${currentRevision(tenant)} = ${revision}`,
      effects: (guard) => [bumpRevision(tenant, guard), ...moveRules(tenant, moves, guard)],
    });
    return done ? 'done' : undefined;
  });
  return outcome === 'done';
}

interface Order {
  readonly revision: number;
  readonly rules: readonly Move[];
}

/**
 * Calls `attempt` with the current order. If it returns undefined, because the rules have changed since they were read, it is
 * called again with the new order.
 *
 * @throws AppError `conflict` when the rules changed during every attempt.
 */
export async function onOrder<T>(
  db: Database,
  tenant: TenantId,
  attempt: (order: Order) => Promise<T | undefined>,
): Promise<T> {
  for (let n = 0; n < attempts; n++) {
    const result = await attempt(await readOrder(db, tenant));
    if (result !== undefined) return result;
  }
  throw conflict('the rules are being changed by others: read them again, then try again');
}

/** SQL: the ordinal after the last rule. Evaluated inside the insert, so that parallel creations get different ordinals. */
export function nextOrdinal(tenant: TenantId): Expression<number> {
  return sql<number>`(select coalesce(max(ordinal), 0) + ${gap} from rules where tenant = ${tenant} and until is null)`;
}

/** Statements that give each moved rule a new version at its new place. */
export function moveRules(tenant: TenantId, moves: readonly Move[], when: Expression<SqlBool>): Statement[] {
  return chunks(moves).flatMap((chunk) => [
    endVersion(
      tenant,
      chunk.map(({ id }) => id),
      when,
    ),
    renumber(tenant, chunk, when),
  ]);
}

async function readOrder(db: Database, tenant: TenantId) {
  const rows = await db.read(
    db
      .selectFrom('tenants')
      .leftJoin('rules', (join) =>
        join.onRef('rules.tenant', '=', 'tenants.id').on('rules.until', 'is', null),
      )
      .select(['tenants.rules_revision', 'rules.id', 'rules.ordinal'])
      .where('tenants.id', '=', tenant)
      .orderBy('rules.ordinal'),
  );
  const rules = rows.flatMap(({ id, ordinal }) => (id === null || ordinal === null ? [] : [{ id, ordinal }]));
  return { revision: rows[0]?.rules_revision ?? 0, rules };
}

/**
 * The ordinals that must change so that the rules stand in this order: most rules keep theirs, and those that move, and new ones,
 * get one from the gap between their neighbours. Where a gap is too small, all get new ones.
 */
export function placesFor(order: readonly string[], rules: readonly Move[]): Move[] {
  const before = new Map(rules.map(({ id, ordinal }) => [id, ordinal]));
  const kept = longestRise(order.map((id) => before.get(id)));
  const places: Move[] = [];
  for (let at = 0, end = 0; at <= order.length; at = end + 1) {
    for (end = at; end < order.length && !kept.has(end); ) end += 1;
    const wanted = end - at + 1;
    const [low, high] = [before.get(order[at - 1] ?? ''), before.get(order[end] ?? '')];
    const from = low ?? (high ?? 0) - gap * wanted;
    const step = Math.floor(((high ?? from + gap * wanted) - from) / wanted);
    for (let i = at; i < end; i++)
      places.push({ id: order[i] as string, ordinal: from + step * (i - at + 1) });
    if (wanted > 1 && (step === 0 || !Number.isSafeInteger(from + step * wanted)))
      return order.map((id, i) => ({ id, ordinal: (i + 1) * gap }));
  }
  return places;
}

/** The indices of a longest run of numbers that rise, gaps allowed; undefined is left out. */
function longestRise(numbers: readonly (number | undefined)[]): Set<number> {
  /** For each length, the index at which the run with the smallest last number ends. */
  const ends: number[] = [];
  const previous: (number | undefined)[] = [];
  for (const [at, number] of numbers.entries()) {
    if (number === undefined) continue;
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((numbers[ends[middle] as number] as number) < number) low = middle + 1;
      else high = middle;
    }
    previous[at] = ends[low - 1];
    ends[low] = at;
  }
  const rise = new Set<number>();
  for (let at = ends.at(-1); at !== undefined; at = previous[at]) rise.add(at);
  return rise;
}

/** For the audit log: how many rules moved, and the first of the places that changed, before and after. */
function orderDetail(moved: number, before: readonly string[], after: readonly string[]) {
  const changed = after.flatMap((id, at) => (before[at] === id ? [] : [at])).slice(0, mostListed);
  return { moved, before: changed.map((at) => before[at]), after: changed.map((at) => after[at]) };
}

function chunks(moves: readonly Move[]): Move[][] {
  const result: Move[][] = [];
  for (let start = 0; start < moves.length; start += chunkRows) {
    const chunk = moves.slice(start, start + chunkRows);
    while (chunk.length < chunkRows) chunk.push(unusedMove);
    result.push(chunk);
  }
  return result;
}

/** Inserts a copy of each version that has just ended, at its new place. */
function renumber(tenant: TenantId, moves: readonly Move[], when: Expression<SqlBool>): Statement {
  const places = sql.join(moves.map(({ id, ordinal }) => sql`(${id}, ${ordinal})`));
  return sql`insert into rules (tenant, id, since, until, ordinal, spec, created_at, updated_at)
    select rules.tenant, rules.id, rules.until, null, cast(place.column2 as bigint), spec, created_at, updated_at
    from (values ${places}) as place join rules on rules.tenant = ${tenant} and rules.id = place.column1
    where rules.until = ${currentRevision(tenant)} and ${when}`;
}
