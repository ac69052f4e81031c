import Sqlite from 'better-sqlite3';
import { Database } from '#storage/database/sql.ts';
import { migrate } from '#storage/sqlite/migrate.ts';
import { sqliteDialect } from '#storage/sqlite/open.ts';

/** The directory's database in memory and in this thread, for unit tests. */
export function openMemoryDatabase(): { readonly db: Database; close(): void } {
  const file = new Sqlite(':memory:');
  migrate(file);
  const db = new Database(sqliteDialect, {
    read: async <Row>({ sql, parameters }: { sql: string; parameters: readonly unknown[] }) =>
      file.prepare(sql).all(...parameters) as Row[],
    write: async (queries) =>
      file.transaction(() =>
        queries.map(({ sql, parameters }) => {
          const statement = file.prepare<unknown[], Record<string, unknown>>(sql);
          if (!statement.reader) return { rows: [], changes: statement.run(...parameters).changes };
          const rows = statement.all(...parameters);
          return { rows, changes: rows.length };
        }),
      )(),
  });
  return { db, close: () => file.close() };
}
