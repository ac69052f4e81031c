import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { AccountRows, Condition, Row } from '#core/people/accounts.ts';
import type { Database, Statement } from '../sql.ts';

/** Rows of the tables for signing in. Names are quoted and values are parameters, so no input becomes SQL. */
export function createAccountRows(db: Database): AccountRows {
  const write = async (query: Statement): Promise<readonly Row[]> => {
    const [result] = await db.write([query]);
    return (result?.rows ?? []) as readonly Row[];
  };

  return {
    async insert(table, row) {
      const columns = Object.keys(row).map((column) => sql.ref(column));
      const [made] = await write(
        sql`insert into ${sql.table(table)} (${sql.join(columns)})
          values (${sql.join(Object.values(row))}) returning *`,
      );
      if (!made) throw new Error(`${table} kept no row`);
      return made;
    },

    async select(table, where, { limit, order } = {}) {
      return db.read(
        sql<Row>`select * from ${sql.table(table)} where ${all(where)}
          ${order ? sql`order by ${sql.ref(order.column)} ${sql.raw(order.descending ? 'desc' : 'asc')}` : sql``}
          ${limit === undefined ? sql`` : sql`limit ${limit}`}`,
      );
    },

    async count(table, where) {
      const [row] = await db.read(
        sql<{ n: number }>`select count(*) as n from ${sql.table(table)} where ${all(where)}`,
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
      return write(
        sql`update ${sql.table(table)} set ${sql.join(assignments)} where ${all(where)} returning *`,
      );
    },

    async remove(table, where, one = false) {
      const chosen = one
        ? sql<SqlBool>`id = (select id from ${sql.table(table)} where ${all(where)} limit 1)`
        : all(where);
      return write(sql`delete from ${sql.table(table)} where ${chosen} returning *`);
    },
  };
}

/** All conditions hold. */
function all(where: readonly Condition[]): RawBuilder<SqlBool> {
  return where.length === 0 ? sql<SqlBool>`1 = 1` : sql<SqlBool>`${sql.join(where.map(one), sql` and `)}`;
}

function one({ column, operator, value }: Condition): RawBuilder<SqlBool> {
  if (value === null) return sql`${sql.ref(column)} is null`;
  return sql`${sql.ref(column)} ${sql.raw(operator)} ${value}`;
}
