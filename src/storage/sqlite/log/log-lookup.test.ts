import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { newNotificationId } from '#core/intake/idempotency.ts';
import { draft, HistoryModel } from '#test/support/history-model.ts';
import { entriesFrom, findById, rowAtOrAfter } from './log-lookup.ts';
import { readPartitions } from './partitions.ts';

it('finds what came earlier in the first transaction of a tenant', () => {
  const model = new HistoryModel();
  const first = draft();
  model.transaction(() => {
    model.append(first, 8);
    model.append(draft({ throttledOn: first.id }), 8);
  });
  expect(model.db.prepare('SELECT row, counted FROM state_1').all()).toEqual([{ row: 1, counted: 1 }]);
  model.db.close();
});

const tenants = [7, 8, 9];

it('reads a part of any log, in partitions that are pruned and written anew', () => {
  const acts = fc.record({
    tenant: fc.constantFrom(...tenants),
    entries: fc.integer({ min: 1, max: 40 }),
    act: fc.constantFrom('nothing', 'nothing', 'index', 'prune', 'restart'),
  });
  const asks = fc.record({ from: fc.integer({ min: 1, max: 120 }), limit: fc.integer({ min: 1, max: 60 }) });
  fc.assert(
    fc.property(
      fc.array(acts, { minLength: 1, maxLength: 12 }),
      fc.array(asks, { minLength: 10, maxLength: 10 }),
      fc.constantFrom(
        { partitionRows: 45, indexBatchRows: 7 },
        { partitionRows: 1_000, indexBatchRows: 1_000 },
      ),
      (plays, asked, sizes) => {
        const model = new HistoryModel({ sizes });
        const heads = new Map(tenants.map((tenant) => [tenant, 0]));
        for (const { tenant, entries, act } of plays) {
          model.transaction(() => {
            // Those of the others lie between.
            for (let i = 0; i < entries; i++)
              for (const each of i % 5 === 0 ? tenants : [tenant]) {
                model.append(draft(), each);
                heads.set(each, (heads.get(each) ?? 0) + 1);
              }
          });
          if (act === 'index') model.index();
          if (act === 'restart') model.restart();
          if (act === 'prune') {
            model.prune(Math.floor((heads.get(model.tenant) ?? 0) / 2), 1);
            model.maintain(Number.POSITIVE_INFINITY, 0);
          }
        }
        for (const tenant of tenants) {
          const log = model.sql.of<[number], { first: number; head: number }>(
            'SELECT first, head FROM logs WHERE tenant = ?',
          );
          const { first, head } = log.get(tenant) ?? { first: 1, head: 0 };
          for (const { from: asksFor, limit } of asked) {
            const from = Math.max(first, asksFor);
            const range = { tenant, from, limit };
            const read = entriesFrom<{ row: number; tenant: number; position: number }>(
              ...([model.sql, range, 'n.row, n.tenant, n.position'] as const),
            );
            const found = [...read].flatMap(({ rows }) => rows);
            const last = Math.min(head, from + limit - 1);
            expect(found.map(({ position }) => position)).toEqual(
              Array.from({ length: Math.max(0, last - from + 1) }, (_, i) => from + i),
            );
            expect(found.every((entry) => entry.tenant === tenant)).toBe(true);
            expect(rowAtOrAfter(model.sql, tenant, asksFor)).toBe(found[0]?.row);
          }
        }
        model.db.close();
      },
    ),
    { numRuns: Number(process.env.RUNS ?? 60), endOnFailure: true },
  );
}, 120_000);

/** Finds a notification of the model; answers also how many partitions were looked at. */
function lookUp({ sql, tenant }: HistoryModel, id: string) {
  const spy = vi.spyOn(sql, 'of');
  try {
    const found = findById(sql, tenant, id);
    return { found, partitions: spy.mock.calls.filter(([text]) => /FROM log_/.test(text)).length };
  } finally {
    spy.mockRestore();
  }
}

it('looks for an unknown id in the partitions of its time alone', () => {
  const model = new HistoryModel({ sizes: { partitionRows: 5, indexBatchRows: 2 } });
  const minute = 60_000;
  const start = 30_000_000 * minute;
  for (let i = 0; i < 300; i++)
    model.transaction(() => model.append(draft({ receivedAt: start + i * minute }), 7));
  expect(readPartitions(model.sql)).toHaveLength(61);
  for (const at of [0, start - 1, start, start + 77.5 * minute, start + 299 * minute, start + 9e9]) {
    const { found, partitions } = lookUp(model, newNotificationId(at));
    expect(found).toBeUndefined();
    expect(partitions).toBeLessThanOrEqual(3);
  }
  for (const malformed of ['', 'none', `${newNotificationId(start)}0`])
    expect(lookUp(model, malformed)).toEqual({ found: undefined, partitions: 0 });
  model.db.close();
});

it('finds every kept id, whichever way the clock stepped before it', () => {
  const minute = 60_000;
  const steps = fc.oneof(
    fc.integer({ min: -11_000, max: 11_000 }),
    fc.constantFrom(-10_001, -10_000, -1, 0, 1, minute - 1, minute, -minute),
    fc.integer({ min: -1_000_000, max: 1_000_000 }).map((minutes) => minutes * minute),
  );
  const plays = fc.array(fc.record({ step: steps, act: fc.constantFrom('', '', '', 'index', 'prune') }), {
    minLength: 5,
    maxLength: 80,
  });
  fc.assert(
    fc.property(plays, (played) => {
      const model = new HistoryModel({ sizes: { partitionRows: 7, indexBatchRows: 3 } });
      let now = 29_000_000 * minute;
      for (const { step, act } of played) {
        now = Math.max(0, now + step);
        model.transaction(() => model.append(draft({ receivedAt: now }), 7));
        if (act === 'index') model.index();
        if (act === 'prune') {
          model.prune((model.known.at(-1)?.position ?? 0) - 20, now);
          model.maintain(Number.POSITIVE_INFINITY, 0);
        }
      }
      for (const { id, position } of model.known) expect(lookUp(model, id).found).toMatchObject({ position });
      model.db.close();
    }),
    { numRuns: Number(process.env.RUNS ?? 40), endOnFailure: true },
  );
});
