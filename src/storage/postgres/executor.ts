import type { SqlExecutor } from '../sql.ts';
import type { Connections } from './connections.ts';
import { transaction } from './database.ts';
import { isRetryable } from './errors.ts';

/** A deadlock or a conflict with another transaction is tried again this often. */
const attempts = 5;

/** How the directory reaches PostgreSQL. */
export function createExecutor(reads: Connections, writes: Connections): SqlExecutor {
  return {
    read: ({ sql, parameters }, tenant) => reads.query(tenant ?? 'all', '', sql, parameters),
    write: (queries, tenant) =>
      writes.run(tenant ?? 'all', async (client) => {
        for (let attempt = 1; ; attempt++) {
          try {
            return await transaction(client, async () => {
              const results = [];
              for (const { sql, parameters } of queries) {
                const { rows, rowCount } = await client.query(sql, [...parameters]);
                results.push({ rows, changes: rowCount ?? 0 });
              }
              return results;
            });
          } catch (error) {
            if (attempt === attempts || !isRetryable(error)) throw error;
          }
        }
      }),
  };
}
