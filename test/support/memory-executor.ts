import Database from 'better-sqlite3';
import type { SqlExecutor } from '#storage/sql.ts';
import { migrate } from '#storage/sqlite/migrate.ts';

/** The directory's database in memory and in this thread, for unit tests. */
export function openMemoryExecutor(): SqlExecutor & { close(): void } {
  const db = new Database(':memory:');
  migrate(db);
  return {
    read: async <T>({ sql, parameters }: { sql: string; parameters: readonly unknown[] }) =>
      db.prepare(sql).all(...parameters) as T[],
    write: async (queries) =>
      db.transaction(() =>
        queries.map(({ sql, parameters }) => {
          const statement = db.prepare<unknown[], Record<string, unknown>>(sql);
          if (!statement.reader) return { rows: [], changes: statement.run(...parameters).changes };
          const rows = statement.all(...parameters);
          return { rows, changes: rows.length };
        }),
      )(),
    close: () => db.close(),
  };
}
