/**
 * How configuration is changed. A write is one list of statements without a word in between, so that it is one
 * transaction on any backend; what decides is therefore SQL. The audit row is written first, if the change may happen,
 * and everything after it happens if that row is there.
 */
import { type CompiledQuery, type Expression, type SqlBool, sql } from 'kysely';
import type { TenantId } from '#core/ports.ts';
import { type AuditEntry, auditMark } from './audit.ts';
import type { Builder, Schema } from './schema.ts';
import type { SqlExecutor } from './sql.ts';

export interface Change<Row> {
  readonly entry: AuditEntry;
  /** Statements that make others wait who would change the same without being of the same tenant. */
  readonly locks?: readonly CompiledQuery[];
  /** What must hold, judged inside the transaction; nothing given: that the tenant exists. */
  readonly when?: Expression<SqlBool>;
  /** What to do; every statement must carry the condition it is given. */
  readonly effects: (agreed: Expression<SqlBool>) => readonly CompiledQuery[];
  /** Read at the end of the same transaction, whether or not the change happened. */
  readonly after: CompiledQuery<Row>;
}

export interface Changed<Row> {
  readonly done: boolean;
  readonly row: Row | undefined;
}

export const always = sql<SqlBool>`1 = 1`;

/** Makes the change, its audit row and its number in `meta.changes` one durable transaction, or nothing. */
export async function change<Row>(
  db: Builder,
  executor: SqlExecutor,
  wanted: Change<Row>,
): Promise<Changed<Row>> {
  const { entry, locks = [], when = always, effects, after } = wanted;
  const mark = auditMark(db, entry, when);
  const before = [lockTenant(db, entry.tenant), ...locks];
  const results = await executor.write([
    ...before,
    mark.insert,
    ...countChange(db, entry.tenant, mark.written),
    ...effects(mark.written),
    after,
  ]);
  return { done: results[before.length]?.changes === 1, row: results.at(-1)?.rows[0] as Row | undefined };
}

/**
 * A change that tells what was before it: that is read, and the change made if it still is so, else it is read again.
 * undefined when nothing is read. `plan` says in its `when` what of `before` must not have changed; with nothing to do
 * it answers undefined, and `done` is false.
 */
export async function changeFrom<Before, Row>(
  db: Builder,
  executor: SqlExecutor,
  read: CompiledQuery<Before>,
  plan: (before: Before) => Change<Row> | undefined,
): Promise<(Changed<Row> & { readonly before: Before }) | undefined> {
  let refused: (Changed<Row> & { readonly seen: string }) | undefined;
  for (;;) {
    const [before] = await executor.read(read);
    if (before === undefined) return undefined;
    const seen = JSON.stringify(before);
    // Nothing has changed since: it was refused for a reason of its own.
    if (refused?.seen === seen) return { ...refused, before };
    const wanted = plan(before);
    if (!wanted) return { done: false, row: undefined, before };
    const changed = await change(db, executor, wanted);
    if (changed.done) return { ...changed, before };
    refused = { ...changed, seen };
  }
}

/** A row's values in the columns that are about to be written. */
export function pick<Row extends object>(row: Row, columns: Partial<Row>): Partial<Row> {
  return Object.fromEntries(
    Object.keys(columns).map((column) => [column, row[column as keyof Row]]),
  ) as Partial<Row>;
}

/** That there is a row with these values. */
export function still<Table extends keyof Schema>(
  table: Table,
  values: Partial<Schema[Table]>,
): Expression<SqlBool> {
  const conditions = Object.entries(values).map(([column, value]) =>
    value === null
      ? sql`${sql.ref(`${table}.${column}`)} is null`
      : sql`${sql.ref(`${table}.${column}`)} = ${value}`,
  );
  return sql<SqlBool>`exists (select 1 from ${sql.table(table)} where ${sql.join(conditions, sql` and `)})`;
}

/**
 * Makes changes of one tenant wait for each other, so that what `when` saw is still so when its effects are written.
 * SQLite has one writer anyway; for PostgreSQL this is the row lock, after which each statement sees what was committed.
 */
export function lockTenant(db: Builder, tenant: TenantId): CompiledQuery {
  return sql`update tenants set title = title where id = ${tenant}`.compile(db);
}

/** Counts a change in `meta.changes` and notes the number with the tenant: what `changedSince` reads. */
export function countChange(db: Builder, tenant: TenantId, when: Expression<SqlBool>): CompiledQuery[] {
  return [
    bumpChanges(db, when),
    sql`update tenants set changed = ${currentChange} where id = ${tenant} and ${when}`.compile(db),
  ];
}

export function bumpChanges(db: Builder, when: Expression<SqlBool>): CompiledQuery {
  return sql`insert into meta (name, value) select 'changes', '1' where ${when}
    on conflict (name) do update set value = cast(cast(meta.value as bigint) + 1 as text)`.compile(db);
}

export const currentChange = sql<number>`(select cast(value as bigint) from meta where name = 'changes')`;

type Values<Table extends keyof Schema> = {
  readonly [Column in keyof Schema[Table]]: Schema[Table][Column] | Expression<Schema[Table][Column]>;
};

/** One whole row, if `when` holds. */
export function insertWhen<Table extends keyof Schema>(
  db: Builder,
  table: Table,
  row: Values<Table>,
  when: Expression<SqlBool>,
): CompiledQuery {
  const columns = Object.keys(row).map((column) => sql.ref(column));
  return sql`insert into ${sql.table(table)} (${sql.join(columns)})
    select ${sql.join(Object.values(row))} where ${when}`.compile(db);
}
