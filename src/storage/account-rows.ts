import { type CompiledQuery, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { AccountRows, Condition, Row } from '#core/accounts.ts';
import type { Builder } from './schema.ts';
import type { SqlExecutor } from './sql.ts';

/**
 * Rows of the tables for signing in. Names are quoted and values are parameters: nothing that comes from outside becomes
 * SQL.
 */
export function createAccountRows(db: Builder, executor: SqlExecutor): AccountRows {
  const write = async (query: CompiledQuery): Promise<readonly Row[]> => {
    const [result] = await executor.write([query]);
    return (result?.rows ?? []) as readonly Row[];
  };

  return {
    async insert(table, row) {
      const columns = Object.keys(row).map((column) => sql.ref(column));
      const [made] = await write(
        sql`insert into ${sql.table(table)} (${sql.join(columns)})
          values (${sql.join(Object.values(row))}) returning *`.compile(db),
      );
      if (!made) throw new Error(`${table} kept no row`);
      return made;
    },

    async select(table, where, { limit, offset, order } = {}) {
      return executor.read(
        sql<Row>`select * from ${sql.table(table)} where ${all(where)}
          ${order ? sql`order by ${sql.ref(order.column)} ${sql.raw(order.descending ? 'desc' : 'asc')}` : sql``}
          ${limit === undefined ? sql`` : sql`limit ${limit}`}
          ${offset === undefined || limit === undefined ? sql`` : sql`offset ${offset}`}`.compile(db),
      );
    },

    async count(table, where) {
      const [row] = await executor.read(
        sql<{ n: number }>`select count(*) as n from ${sql.table(table)} where ${all(where)}`.compile(db),
      );
      return row?.n ?? 0;
    },

    async update(table, where, set, add = {}) {
      const assignments = [
        ...Object.entries(set).map(([column, value]) => sql`${sql.ref(column)} = ${value}`),
        ...Object.entries(add).map(
          ([column, by]) => sql`${sql.ref(column)} = coalesce(${sql.ref(column)}, 0) + ${by}`,
        ),
      ];
      // A change of nothing still tells what is there.
      if (assignments.length === 0) return this.select(table, where);
      return write(
        sql`update ${sql.table(table)} set ${sql.join(assignments)} where ${all(where)} returning *`.compile(
          db,
        ),
      );
    },

    async remove(table, where, one = false) {
      const chosen = one
        ? sql<SqlBool>`id = (select id from ${sql.table(table)} where ${all(where)} limit 1)`
        : all(where);
      return write(sql`delete from ${sql.table(table)} where ${chosen} returning *`.compile(db));
    },
  };
}

/** All conditions joined by AND hold, and at least one of those joined by OR. */
function all(where: readonly Condition[]): RawBuilder<SqlBool> {
  const must = where.filter(({ or }) => !or).map(one);
  const any = where.filter(({ or }) => or).map(one);
  const groups = [...must, ...(any.length > 0 ? [sql<SqlBool>`(${sql.join(any, sql` or `)})`] : [])];
  return groups.length === 0 ? sql<SqlBool>`1 = 1` : sql<SqlBool>`${sql.join(groups, sql` and `)}`;
}

function one({ column, operator, value }: Condition): RawBuilder<SqlBool> {
  const name = sql.ref(column);
  if (operator === 'in' || operator === 'not in') {
    const values = [value].flat();
    if (values.length === 0) return operator === 'in' ? sql`1 = 0` : sql`1 = 1`;
    return sql`${name} ${sql.raw(operator)} (${sql.join(values)})`;
  }
  if (value === null) return operator === '=' ? sql`${name} is null` : sql`${name} is not null`;
  return sql`${name} ${sql.raw(operator)} ${value}`;
}
