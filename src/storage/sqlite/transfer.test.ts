import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { draft, openHistory } from '#test/support/history-model.ts';
import { applicationId } from './file/database-file.ts';
import { append } from './log/append.ts';
import { recordReceipts } from './log/changes.ts';
import { LogWriter } from './log/log-writer.ts';
import { openSqliteTransfer } from './transfer.ts';

const tenant = 7;

it('the receipts of a page are those of its own entries, also if the log goes on in the next partition', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-transfer-'));
  const path = join(folder, 'source.db');
  const db = openHistory(path);
  db.pragma(`application_id = ${applicationId}`);
  const writer = new LogWriter(db, { partitionRows: 40, indexBatchRows: 7 });
  const ids: string[] = [];
  for (let i = 0; i < 100; i++)
    writer.transaction(() => {
      const { route, ...rest } = draft();
      ids.push(rest.id);
      append(writer, tenant, { ...rest, route: JSON.stringify(route), shown: true }, null);
      recordReceipts(writer, tenant, { id: 'p', tags: [] }, [{ id: rest.id, state: 'shown', at: 1 }]);
    });
  db.close();
  const source = await openSqliteTransfer(path, 'source');
  for (const [after, limit] of [
    [0, 10],
    [35, 10],
  ] as const) {
    const { entries } = await source.log.readAfter(tenant, after, limit);
    const receipts = await source.receiptsOf(tenant, entries);
    expect(receipts.map(({ id }) => id)).toEqual(ids.slice(after, after + limit));
  }
  await source.close();
  rmSync(folder, { recursive: true });
});
