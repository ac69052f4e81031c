import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Entry } from '#core/ports.ts';
import { postgresDialect } from '../postgres/open.ts';
import { Database } from '../sql.ts';
import { compareLive, compareLog, compareTable } from './transfer-check.ts';
import type { Row, TransferDatabase, TransferReceipt } from './transfer-database.ts';

interface Held {
  readonly entries?: readonly Entry[];
  readonly receipts?: readonly TransferReceipt[];
  readonly rows?: readonly Row[];
  readonly first?: number;
}

/** A database that holds just this. */
function holding({ entries = [], receipts = [], rows = [], first = 1 }: Held): TransferDatabase {
  const bounds = { head: entries.length, first };
  let isRead = false;
  const database: Partial<TransferDatabase> = {
    db: new Database(postgresDialect, {
      read: async <T>() => {
        const found = isRead ? [] : rows;
        isRead = true;
        return found as T[];
      },
      write: async () => [],
    }),
    log: {
      bounds: async () => bounds,
      readAfter: async (_, position, limit) => ({
        ...bounds,
        entries: entries.slice(position, position + limit),
      }),
    },
    receiptsOf: async (_, page) => receipts.filter(({ id }) => page.some((entry) => entry.id === id)),
  };
  return database as TransferDatabase;
}

const entry = (position: number, by = 'ann') =>
  ({
    kind: 'clear',
    position,
    id: `id-${position}`,
    at: 1,
    by,
    reason: 'cleared',
    route: { rules: [], muted: false },
  }) as unknown as Entry;
const log = Array.from({ length: 2_500 }, (_, i) => entry(i + 1));
const receipt = { id: 'id-1700', panelId: 'p', shownAt: 1, expiredAt: null, clearedAt: null };
const whole = { entries: log, receipts: [receipt] };

const compared = async (copy: Held, of: Held = whole) => {
  let entries = 0;
  await compareLog(holding(of), holding(copy), 3, (more) => {
    entries += more;
  });
  return entries;
};

test('a log and its copy are compared entry by entry, in whichever order their fields are', async () => {
  const turned = log.map((of) => Object.fromEntries(Object.entries(of).reverse()) as unknown as Entry);
  expect(await compared({ entries: turned, receipts: [receipt] })).toBe(2_500);
  expect(await compared({}, {})).toBe(0);
});

test('what differs in the copy of a log is named', async () => {
  const changed = (with_: Held) => expect(compared({ ...whole, ...with_ })).rejects;
  await changed({ entries: log.with(1_699, entry(1_700, 'bob')) }).toThrow(
    'the copy differs in the log of tenant 3 at position 1700. Make sure that no server runs',
  );
  await changed({ entries: log.slice(0, -1) }).toThrow(
    'differs in where the log of tenant 3 begins and ends',
  );
  await changed({ first: 2 }).toThrow('differs in where the log of tenant 3 begins and ends');
  await changed({ receipts: [] }).toThrow('differs in the receipts of tenant 3 for id-1700');
  await changed({ receipts: [{ ...receipt, shownAt: 2 }] }).toThrow('differs in the receipts of tenant 3');
  await changed({ receipts: [receipt, { ...receipt, id: 'id-7' }] }).toThrow('for id-7');
});

test('tables and what is live are compared row by row', async () => {
  const rows = [1, 2, 3].map((tenant) => ({ tenant, id: 'a', spec: '{}' }));
  const of = (copy: readonly Row[]) => compareTable(holding({ rows }), holding({ rows: copy }), 'rules');
  expect(await of(rows)).toBe(3);
  await expect(of(rows.slice(0, 2))).rejects.toThrow('differs in table rules of tenant 3');
  await expect(of([...rows, { tenant: 4, id: 'b' }])).rejects.toThrow('differs in table rules of tenant 4');
  await expect(of(rows.with(1, { tenant: 2, id: 'a', spec: '[]' }))).rejects.toThrow('of tenant 2');
  await expect(compareLive(holding({ rows }), holding({ rows: rows.slice(1) }), 0)).rejects.toThrow(
    'differs in what is live of tenant 1',
  );
});

test('a copy that cannot be read ends the comparison, also while the source is still being read', async () => {
  const from = holding(whole);
  const slow = {
    ...from,
    log: {
      ...from.log,
      readAfter: async (...asked: Parameters<typeof from.log.readAfter>) => {
        await sleep(20);
        return from.log.readAfter(...asked);
      },
    },
  };
  const to = holding(whole);
  const broken = {
    ...to,
    log: { ...to.log, readAfter: async () => Promise.reject(new Error('page 7 is broken')) },
  };
  await expect(compareLog(slow, broken, 3, () => undefined)).rejects.toThrow('page 7 is broken');
});
