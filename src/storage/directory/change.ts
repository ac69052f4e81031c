/**
 * The directory: configuration in SQL that SQLite and PostgreSQL share; `directory.ts` puts its parts together, one kind of
 * thing a file. Every change goes through `change.ts`: it writes its rows, its audit entry and its number in one transaction, or
 * nothing. What a change depends on is a condition in SQL, evaluated in that transaction, so two nodes never overwrite each
 * other. Other nodes learn of changes by their number. Rules are versioned: a change ends a version and inserts another one, so
 * the rules of an earlier revision can be read for as long as notifications name it.
 *
 * Changes of configuration. A change is one list of SQL statements that every backend runs as one transaction, without reads
 * by our code in between; so its precondition is SQL too. The first statement inserts the audit row if the precondition
 * holds. Every later statement runs only if that row exists (`guard`).
 *
 */
import { type Expression, type SqlBool, sql } from 'kysely';
import type { TenantId } from '#core/log/route.ts';
import type { Database, Schema, Statement } from '../database/sql.ts';
import { auditMark, type NewAuditEntry } from './audit.ts';

export interface Change<Row> {
  readonly entry: NewAuditEntry;
  /** Statements that take locks beside the tenant's, for data that several tenants can change. */
  readonly locks?: readonly Statement[];
  /** The precondition, evaluated inside the transaction. Without one, the tenant must exist. */
  readonly when?: Expression<SqlBool>;
  /** The statements of the change; each must contain the given condition. */
  readonly effects: (guard: Expression<SqlBool>) => readonly Statement[];
  /** Read at the end of the same transaction, whether or not the change happened. Without it, no row is read. */
  readonly after?: Statement<Row>;
}

export interface Changed<Row> {
  readonly done: boolean;
  readonly row: Row | undefined;
}

export const always = sql<SqlBool>`1 = 1`;

/** Writes the change, its audit row and its number in `meta.changes` in one durable transaction, or writes nothing. */
export async function change<Row>(db: Database, wanted: Change<Row>): Promise<Changed<Row>> {
  const { entry, locks = [], when = always, effects, after } = wanted;
  const mark = auditMark(entry, when);
  const before = [lockTenant(entry.tenant), ...locks];
  const statements = [mark.insert, ...countChange(entry.tenant, mark.written), ...effects(mark.written)];
  const results = await db.write([...before, ...statements, ...(after ? [after] : [])], entry.tenant);
  const row = after && (results.at(-1)?.rows[0] as Row | undefined);
  return { done: results[before.length]?.changes === 1, row };
}

/**
 * An optimistic change: reads the row, plans the change from it, and writes it if the row is unchanged; otherwise starts
 * again. Returns undefined when there is no row. `plan` must state in `when` which values of `before` it depends on. If `plan`
 * returns undefined, nothing is written and `done` is false.
 */
export async function compareAndSet<Before, Row>(
  db: Database,
  read: Statement<Before>,
  plan: (before: Before) => Change<Row> | undefined,
): Promise<(Changed<Row> & { readonly before: Before }) | undefined> {
  let failed: (Changed<Row> & { readonly seen: string }) | undefined;
  for (;;) {
    const [before] = await db.read(read);
    if (before === undefined) return undefined;
    const seen = JSON.stringify(before);
    // The row is as before, so another part of the precondition failed; a retry would fail too.
    if (failed?.seen === seen) return { ...failed, before };
    const wanted = plan(before);
    if (!wanted) return { done: false, row: undefined, before };
    const changed = await change(db, wanted);
    if (changed.done) return { ...changed, before };
    failed = { ...changed, seen };
  }
}

/** A row's values in the columns that a change will write. */
export function pick<Row extends object>(row: Row, columns: Partial<Row>): Partial<Row> {
  return Object.fromEntries(
    Object.keys(columns).map((column) => [column, row[column as keyof Row]]),
  ) as Partial<Row>;
}

/** SQL: there is a row with these values. */
export function precondition<Table extends keyof Schema>(
  table: Table,
  values: Partial<Schema[Table]>,
): Expression<SqlBool> {
  return sql<SqlBool>`exists (select 1 from ${sql.table(table)} where ${hasValues(table, values)})`;
}

function hasValues(table: string, values: object): Expression<SqlBool> {
  const conditions = Object.entries(values).map(([column, value]) =>
    value === null
      ? sql`${sql.ref(`${table}.${column}`)} is null`
      : sql`${sql.ref(`${table}.${column}`)} = ${value}`,
  );
  return sql<SqlBool>`${sql.join(conditions, sql` and `)}`;
}

/**
 * Locks the tenant's row, so that changes of one tenant run one after the other and `when` holds until the effects are written.
 * PostgreSQL needs it; SQLite has only one writer.
 */
export function lockTenant(tenant: TenantId): Statement {
  return sql`update tenants set title = title where id = ${tenant}`;
}

/** Increments `meta.changes` and stores the number in the tenant's row, where `changedSince` reads it. */
export function countChange(tenant: TenantId, when: Expression<SqlBool>): Statement[] {
  return [
    bumpChanges(when),
    sql`update tenants set changed = ${currentChange} where id = ${tenant} and ${when}`,
  ];
}

export function bumpChanges(when: Expression<SqlBool>): Statement {
  return sql`insert into meta (name, value) select 'changes', '1' where ${when}
    on conflict (name) do update set value = cast(cast(meta.value as bigint) + 1 as text)`;
}

export const currentChange = sql<number>`(select cast(value as bigint) from meta where name = 'changes')`;

type Values<Table extends keyof Schema> = {
  readonly [Column in keyof Schema[Table]]: Schema[Table][Column] | Expression<Schema[Table][Column]>;
};

/** One whole row, if `when` holds. */
export function insertWhen<Table extends keyof Schema>(
  table: Table,
  row: Values<Table>,
  when: Expression<SqlBool>,
): Statement {
  const columns = Object.keys(row).map((column) => sql.ref(column));
  return sql`insert into ${sql.table(table)} (${sql.join(columns)})
    select ${sql.join(Object.values(row))} where ${when}`;
}

/** Sets columns of the rows with the values of `where`, if `when` holds. */
export function updateWhen<Table extends keyof Schema>(
  table: Table,
  { set, where }: { readonly set: Partial<Values<Table>>; readonly where: Partial<Schema[Table]> },
  when: Expression<SqlBool>,
): Statement {
  const columns = Object.entries(set).map(([column, value]) => sql`${sql.ref(column)} = ${value}`);
  return sql`update ${sql.table(table)} set ${sql.join(columns)}
    where ${hasValues(table, where)} and ${when}`;
}

/** Deletes the rows with these values, if `when` holds. */
export function deleteWhen<Table extends keyof Schema>(
  table: Table,
  where: Partial<Schema[Table]>,
  when: Expression<SqlBool>,
): Statement {
  return sql`delete from ${sql.table(table)} where ${hasValues(table, where)} and ${when}`;
}
