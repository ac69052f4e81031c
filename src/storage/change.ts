/**
 * How configuration is changed. A write is one list of statements without a word in between, so that it is one
 * transaction on any backend; what decides is therefore SQL. The audit row is written first, if the change may happen,
 * and everything after it happens if that row is there.
 */
import { type CompiledQuery, type Expression, type SqlBool, sql } from 'kysely';
import type { TenantId } from '../core/ports.ts';
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
