/** What is done for one notification reads as many rows in a long log as in a short one, also before PostgreSQL has statistics of it. */
import { expect, test } from 'vitest';
import { openPostgres } from '#storage/postgres/open.ts';
import { openPostgresTransfer } from '#storage/postgres/transfer.ts';
import type { Storage } from '#storage/storage.ts';
import { createDatabase, withClient } from '../support/postgres.ts';
import { describeWithPostgres } from '../support/with-postgres.ts';
import { draft, lobby, now } from './history-lab.ts';

const tenant = 1;
const rows = 1_500;
const inBatch = 50;
const partitionRows = 10_000;

describeWithPostgres('rows of the log that PostgreSQL reads', (server) => {
  /** Does `work` on a new database; answers how many rows of the log it read, by whatever plan. */
  async function rowsRead(work: (storage: Storage, url: string) => Promise<void>): Promise<number> {
    const url = await createDatabase(server());
    const options = { queueCapacity: rows, partitionRows, onProblem: () => undefined };
    const storage = await openPostgres({ url, ...options });
    // A new partition has no statistics until PostgreSQL looks at it, which takes up to a minute.
    const off = (low: number) => `ALTER TABLE log_${low} SET (autovacuum_enabled = off)`;
    await withClient(url, (client) => client.query(`${off(1)}; ${off(1 + partitionRows)}`));
    await work(storage, url);
    await storage.close();
    return withClient(url, async (client) => {
      const { rows: found } = await client.query<{ read: string }>(
        "SELECT sum(coalesce(idx_tup_fetch, 0) + seq_tup_read) AS read FROM pg_stat_user_tables WHERE relname ~ '^log_[0-9]+$'",
      );
      return Number(found[0]?.read);
    });
  }

  const ids: string[] = [];
  async function fill({ history }: Storage): Promise<void> {
    ids.length = 0;
    for (let done = 0; done < rows; done += inBatch) {
      const batch = Array.from({ length: inBatch }, (_, i) =>
        draft({ throttledOn: i % 10 === 1 ? (ids[done] ?? null) : null }),
      );
      ids.push(...batch.map(({ id }) => id));
      await Promise.all(batch.map((each) => history.append(tenant, each, null)));
    }
  }

  test('are about one for each notification that is stored, counted, cleared or acknowledged', async () => {
    const read = await rowsRead(async (storage) => {
      await fill(storage);
      for (const id of ids.slice(0, 40)) {
        await storage.history.clear(tenant, id, 'ann', now);
        await storage.history.acknowledge(tenant, ids[100] as string, { by: 'ann', at: now, note: null });
      }
    });
    expect(read).toBeLessThan(2 * rows);
  });

  test('are a few for each notification that a migration imports', async () => {
    const read = await rowsRead(async (storage, url) => {
      await fill(storage);
      // Of two partitions, one has statistics.
      await withClient(url, (client) =>
        client.query(`ANALYZE log_1; SELECT setval('log_row', ${partitionRows})`),
      );
      const { entries } = await storage.history.readAfter(tenant, 0, rows);
      const other = await openPostgresTransfer(storage);
      for (let from = 0; from < rows; from += 500) {
        const page = entries
          .slice(from, from + 500)
          .map((entry) => ({ ...entry, id: `${entry.id.slice(0, -4)}ffff` }));
        const receipts = page.map(({ id }) => ({
          id,
          panelId: lobby.id,
          shownAt: now,
          expiredAt: null,
          clearedAt: null,
        }));
        await other.importPage(tenant + 1, { entries: page, receipts });
      }
    });
    expect(read).toBeLessThan(5 * rows);
  });
});
