import { expect, test } from 'vitest';
import type { Entry } from '#core/log/log.ts';
import type { ReceiptRow } from '#core/log/receipts.ts';
import { Database } from './database/sql.ts';
import { postgresDialect } from './postgres/open.ts';
import { Comparison, compareLive, compareLog, compareTable, type TransferDatabase } from './transfer.ts';

type Row = Readonly<Record<string, unknown>>;

interface Held {
  readonly entries?: readonly Entry[];
  readonly receipts?: Readonly<Record<string, readonly ReceiptRow[]>>;
  readonly rows?: readonly Row[];
  readonly first?: number;
}

/** A database that holds just this. */
function holding({ entries = [], receipts = {}, rows = [], first = 1 }: Held): TransferDatabase {
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
    history: {
      bounds: async () => bounds,
      readAfter: async (_, position, limit) => ({
        ...bounds,
        entries: entries.slice(position, position + limit),
      }),
      of: async (_, ids) => new Map(ids.flatMap((id) => (receipts[id] ? [[id, receipts[id]]] : []))),
    },
  };
  return database as TransferDatabase;
}

const entry = (position: number, title = 'disk full') =>
  ({
    kind: 'notification',
    position,
    id: `id-${position}`,
    title,
    route: { rules: [], muted: false },
  }) as unknown as Entry;
const log = Array.from({ length: 2_500 }, (_, i) => entry(i + 1));
const receipt = { panelId: 'p', shownAt: 1, inGroup: true, expiredAt: null, clearedAt: null };
const whole = { entries: log, receipts: { 'id-1700': [receipt] } };

const compared = async (copy: Held, of: Held = whole) => {
  const comparison = new Comparison('log');
  await compareLog(holding(of), holding(copy), 3, 0, comparison);
  return comparison.result();
};

test('a log and its copy are compared entry by entry, in whichever order their fields are, and have one hash', async () => {
  const turned = log.map((of) => Object.fromEntries(Object.entries(of).reverse()) as unknown as Entry);
  const own = await compared(whole);
  expect(own).toEqual({ name: 'log', rows: 2_500, hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(await compared({ ...whole, entries: turned })).toEqual(own);
  const without = { entries: log };
  expect((await compared(without, without)).hash).not.toBe(own.hash);
  expect((await compared({}, {})).rows).toBe(0);
});

test('what differs in the copy of a log is named', async () => {
  const changed = (with_: Held) => expect(compared({ ...whole, ...with_ })).rejects;
  await changed({ entries: log.with(1_699, entry(1_700, 'disk empty')) }).toThrow(
    'the copy differs in the log of tenant 3 at position 1700. Make sure that no server runs',
  );
  await changed({ entries: log.slice(0, -1) }).toThrow(
    'differs in where the log of tenant 3 begins and ends',
  );
  await changed({ first: 2 }).toThrow('differs in where the log of tenant 3 begins and ends');
  await changed({ receipts: {} }).toThrow('differs in the log of tenant 3 at position 1700');
  await changed({ receipts: { 'id-1700': [{ ...receipt, shownAt: 2 }] } }).toThrow('at position 1700');
  await changed({ receipts: { 'id-1700': [{ ...receipt, inGroup: false }] } }).toThrow('at position 1700');
  await changed({ receipts: { ...whole.receipts, 'id-7': [receipt] } }).toThrow('at position 7');
});

test('tables and what is live are compared row by row', async () => {
  const rows = [1, 2, 3].map((tenant) => ({ tenant, id: 'a', spec: '{}' }));
  const of = (copy: readonly Row[]) =>
    compareTable(holding({ rows }), holding({ rows: copy }), 'rules', ['tenant', 'id']);
  expect(await of(rows)).toMatchObject({ name: 'rules', rows: 3 });
  await expect(of(rows.slice(0, 2))).rejects.toThrow('differs in table rules of tenant 3');
  await expect(of([...rows, { tenant: 4, id: 'b' }])).rejects.toThrow('differs in table rules of tenant 4');
  await expect(of(rows.with(1, { tenant: 2, id: 'a', spec: '[]' }))).rejects.toThrow('of tenant 2');
  await expect(compareLive(holding({ rows }), holding({ rows: rows.slice(1) }), 0)).rejects.toThrow(
    'differs in what is live of tenant 1',
  );
});

test('a copy that cannot be read ends the comparison, also while the source is still being read', async () => {
  const never = new Promise<never>(() => undefined);
  const from = holding(whole);
  const slow = { ...from, history: { ...from.history, readAfter: () => never } };
  const to = holding(whole);
  const broken = {
    ...to,
    history: { ...to.history, readAfter: async () => Promise.reject(new Error('page 7 is broken')) },
  };
  await expect(compareLog(slow, broken, 3, 0, new Comparison('log'))).rejects.toThrow('page 7 is broken');
});
