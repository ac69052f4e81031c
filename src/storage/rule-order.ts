/** The order of a tenant's rules: a column of numbers, of which only the sequence counts. */
import { type CompiledQuery, type Expression, type SqlBool, sql } from 'kysely';
import type { Actor } from '#core/audit.ts';
import { AppError } from '#core/errors.ts';
import type { TenantId } from '#core/ports.ts';
import { change } from './change.ts';
import { bumpRevision, currentRevision, endVersion } from './rule-versions.ts';
import type { Builder } from './schema.ts';
import type { SqlExecutor } from './sql.ts';

export interface Move {
  readonly id: string;
  readonly ordinal: number;
}

/** The place of a new rule, and the rules that move to make room for it. */
export interface Room {
  readonly ordinal: number | Expression<number>;
  readonly moves: readonly Move[];
}

/** Every statement has this many places, filled up with no one's id: few texts to prepare, whatever moves. */
const chunkRows = 256;
const nobody: Move = { id: '', ordinal: 0 };
const attempts = 20;
const mostListed = 40;

/**
 * Puts a tenant's rules in the order of `ids`; only rows that move get a new version. False when `ids` does not name
 * every rule once. The order is worked out from a read and written if no rule changed since, else worked out again.
 */
export async function reorder(
  db: Builder,
  executor: SqlExecutor,
  { tenant, ids, by, at }: { tenant: TenantId; ids: readonly string[]; by: Actor; at: number },
): Promise<boolean> {
  const outcome = await onOrder(db, executor, tenant, async ({ revision, rules }) => {
    const moves = movesTo(ids, rules);
    if (!moves) return 'refused';
    if (moves.length === 0) return 'done';
    const { done } = await change(db, executor, {
      entry: { tenant, by, at, action: 'rule.order', subject: 'rules', detail: orderDetail(moves, rules) },
      when: sql<SqlBool>`${currentRevision(tenant)} = ${revision}`,
      effects: (guard) => [bumpRevision(db, tenant, guard), ...moveRules(db, tenant, moves, guard)],
      after: db.selectFrom('tenants').select('rules_revision').where('id', '=', tenant).compile(),
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
 * Does what depends on the order in force. `attempt` answers undefined where the rules have changed since they were
 * read, and is called again with what they are then.
 *
 * @throws AppError `conflict` when others change the rules all the time.
 */
export async function onOrder<T>(
  db: Builder,
  executor: SqlExecutor,
  tenant: TenantId,
  attempt: (order: Order) => Promise<T | undefined>,
): Promise<T> {
  for (let n = 0; n < attempts; n++) {
    const result = await attempt(await readOrder(db, executor, tenant));
    if (result !== undefined) return result;
  }
  throw new AppError('conflict', 'the rules are being changed by others: read them again, then try again');
}

/** Makes room at a place counted from 0: the fewer rules move, those before it or those after it. */
export function roomAt(place: number, rules: readonly Move[]): Room {
  const ordinals = rules.map(({ ordinal }) => ordinal);
  const takes = (of: readonly Move[], places: readonly number[]) =>
    of.map(({ id }, i) => ({ id, ordinal: places[i] as number }));
  if (place * 2 <= rules.length) {
    const places = [(ordinals[0] ?? 1) - 1, ...ordinals];
    return { ordinal: places[place] as number, moves: takes(rules.slice(0, place), places) };
  }
  const places = [...ordinals, (ordinals.at(-1) ?? 0) + 1];
  return { ordinal: places[place] as number, moves: takes(rules.slice(place), places.slice(place + 1)) };
}

/** New versions at new places of rules whose places change. */
export function moveRules(
  db: Builder,
  tenant: TenantId,
  moves: readonly Move[],
  when: Expression<SqlBool>,
): CompiledQuery[] {
  return chunks(moves).flatMap((chunk) => [
    endVersion(
      db,
      tenant,
      chunk.map(({ id }) => id),
      when,
    ),
    renumber(db, tenant, chunk, when),
  ]);
}

async function readOrder(db: Builder, executor: SqlExecutor, tenant: TenantId) {
  const rows = await executor.read(
    db
      .selectFrom('tenants')
      .leftJoin('rules', (join) =>
        join.onRef('rules.tenant', '=', 'tenants.id').on('rules.until', 'is', null),
      )
      .select(['tenants.rules_revision', 'rules.id', 'rules.ordinal'])
      .where('tenants.id', '=', tenant)
      .orderBy('rules.ordinal')
      .compile(),
  );
  const rules = rows.flatMap(({ id, ordinal }) => (id === null || ordinal === null ? [] : [{ id, ordinal }]));
  return { revision: rows[0]?.rules_revision ?? 0, rules };
}

/** The ordinals in use are dealt out again in the new order; undefined when `ids` does not name every rule once. */
function movesTo(ids: readonly string[], rules: readonly Move[]): readonly Move[] | undefined {
  const before = new Map(rules.map(({ id, ordinal }) => [id, ordinal]));
  if (ids.length !== rules.length || new Set(ids).size !== ids.length) return undefined;
  if (!ids.every((id) => before.has(id))) return undefined;
  return rules
    .map(({ ordinal }, index) => ({ id: ids[index] as string, ordinal }))
    .filter(({ id, ordinal }) => before.get(id) !== ordinal);
}

/** For the audit log: how many rules moved, and the order of the first of them before and after. */
function orderDetail(moves: readonly Move[], rules: readonly Move[]) {
  const before = new Map(rules.map(({ id, ordinal }) => [ordinal, id]));
  const some = moves.slice(0, mostListed);
  return {
    moved: moves.length,
    before: some.map(({ ordinal }) => before.get(ordinal)),
    after: some.map(({ id }) => id),
  };
}

function chunks(moves: readonly Move[]): Move[][] {
  const result: Move[][] = [];
  for (let start = 0; start < moves.length; start += chunkRows) {
    const chunk = moves.slice(start, start + chunkRows);
    while (chunk.length < chunkRows) chunk.push(nobody);
    result.push(chunk);
  }
  return result;
}

/** The versions just ended, again, at their new places. */
function renumber(
  db: Builder,
  tenant: TenantId,
  moves: readonly Move[],
  when: Expression<SqlBool>,
): CompiledQuery {
  const places = sql.join(moves.map(({ id, ordinal }) => sql`(${id}, ${ordinal})`));
  return sql`insert into rules (tenant, id, since, until, ordinal, spec, created_at, updated_at)
    select rules.tenant, rules.id, rules.until, null, cast(place.column2 as bigint), spec, created_at, updated_at
    from (values ${places}) as place join rules on rules.tenant = ${tenant} and rules.id = place.column1
    where rules.until = ${currentRevision(tenant)} and ${when}`.compile(db);
}
