import { beforeAll, describe, expect, test, vi } from 'vitest';
import { draft, HistoryModel } from '../../../../test/support/history-model.ts';
import { context } from '../../../../test/support/search-context.ts';
import { parseQuery } from '../../../core/search/search.ts';
import { FairQueue } from '../fair-queue.ts';
import { indexSlice } from '../indexer.ts';
import type { Thread } from '../thread.ts';
import { type CountRequest, type CountStep, countStep } from './count.ts';
import { fieldValues } from './field-values.ts';
import { SqliteFigures } from './figures.ts';

const minuteMs = 60_000;
const now = 3_000 * minuteMs;
const times = { after: 0, before: now, origin: 0, bucketMs: 3_600_000 };

describe('a count', () => {
  const model = new HistoryModel();
  beforeAll(() => {
    model.transaction(() => {
      for (let i = 0; i < 3_000; i++) {
        model.append(
          draft({
            receivedAt: i * minuteMs,
            title: i % 100 === 0 ? 'rare' : 'common',
            host: `host-${i % 200}`,
            ip: `10.0.${i % 4}.${i % 200}`,
            key: `key-${i % 700}`,
            level: i % 300 === 0 ? 'critical' : 'info',
            expiresAt: i * minuteMs + 1000,
          }),
        );
      }
    });
    while (indexSlice(model.db, 10_000).behind);
  }, 60_000);

  /** All that a count asks of the database, as the plan of each statement. */
  function plansOf(q: string): string[] {
    const spy = vi.spyOn(model.db, 'prepare');
    const request = { ...times, now, stepMs: 10_000, leftMs: 10_000 };
    countStep(model.db, model.tenant, parseQuery(q, context), request);
    const texts = spy.mock.calls.map(([text]) => text);
    spy.mockRestore();
    return texts.flatMap((text) =>
      model.db
        .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`)
        .all(...Array(text.split('?').length - 1).fill(1))
        .map(({ detail }) => detail),
    );
  }

  test.each([
    '',
    'level:critical',
    '-level:info',
    'host:host-7',
    'host:host-1*',
    'key:*9 level:info',
    'ip:10.0.1.0/24',
    'rare',
    'rar*',
    'common host:host-7',
    'is:expired',
    'is:live,cleared',
    'is:unseen rare',
    'host:host-7 OR rare',
  ])('of "%s" reads no table from one end to the other', (q) => {
    const plans = plansOf(q);
    expect(plans.length).toBeGreaterThan(5);
    expect(
      plans.filter((plan) =>
        /^SCAN (n|k|l|notifications|postings|live|clears|receipts|minutes|index_id|index_hour)\b/.test(plan),
      ),
    ).toEqual([]);
  });

  test('of what the indexes know looks at no row but those where buckets meet', () => {
    const spy = vi.spyOn(model.db, 'prepare');
    const request = { ...times, now, stepMs: 10_000, leftMs: 10_000 };
    const { counts } = countStep(model.db, model.tenant, parseQuery('host:host-7', context), request);
    expect(spy.mock.calls.filter(([text]) => text.includes('notifications'))).toEqual([]);
    spy.mockRestore();
    expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(15);
  });

  test('of a tenant without a log is nothing', () => {
    expect(countStep(model.db, 99, { kind: 'all' }, { ...times, now, stepMs: 1, leftMs: 1 })).toMatchObject({
      counts: [],
      below: null,
    });
  });

  test('completion of addresses goes on until it has found as many as there are, or are wanted', () => {
    const values = (prefix: string, limit: number) =>
      fieldValues(model.db, model.tenant, { field: 'ip', prefix, limit });
    const all = Array.from({ length: 200 }, (_, i) => `10.0.${i % 4}.${i}`);
    expect(new Set(values('10.0.', 500))).toEqual(new Set(all));
    expect(values('', 500)).toHaveLength(200);
    expect(values('10.0.3.19', 3)).toEqual(['10.0.3.19', '10.0.3.191', '10.0.3.195']);
    expect(values('10.0.3.1', 2)).toEqual(['10.0.3.11', '10.0.3.15']);
    expect(values('10.0.4', 5)).toEqual([]);
  });

  test('completion jumps from one value to the next', () => {
    const spy = vi.spyOn(model.db, 'prepare');
    const wanted = { field: 'host', prefix: 'HOST-19', limit: 20 } as const;
    expect(fieldValues(model.db, model.tenant, wanted)).toEqual([
      'host-19',
      ...Array.from({ length: 10 }, (_, i) => `host-19${i}`),
    ]);
    const [text = ''] = spy.mock.calls[0] ?? [];
    spy.mockRestore();
    const plan = model.db
      .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`)
      .all(...Array(text.split('?').length - 1).fill(1));
    expect(plan.filter(({ detail }) => /SCAN postings/.test(detail))).toEqual([]);
    expect(plan.some(({ detail }) => /SEARCH postings .*value>/.test(detail))).toBe(true);
  });
});

describe('the budget of a count', () => {
  /** A search thread whose every step takes `tookMs` and counts one; there are `steps` of them to do. */
  function slowThread(tookMs: number, steps: number) {
    const asked: CountRequest[] = [];
    const call = async (_op: string, { request }: { request: CountRequest }): Promise<CountStep> => {
      asked.push(request);
      const below = asked.length < steps ? 1_000 - asked.length : null;
      const searchedTo = below && 5_000 + below;
      return { counts: [{ bucket: 0, level: 'info', count: 1 }], below, searchedTo, tookMs };
    };
    const thread = { call } as unknown as Thread;
    return {
      asked,
      figures: new SqliteFigures(
        () => thread,
        () => thread,
        new FairQueue(),
      ),
    };
  }

  test('is spent in steps, each going on where the last one stopped', async () => {
    const { asked, figures } = slowThread(30, 4);
    expect(await figures.count(1, { kind: 'all' }, times, { now })).toEqual({
      counts: [{ bucket: 0, level: 'info', count: 4 }],
      searchedTo: null,
    });
    expect(asked.map(({ below, leftMs }) => [below, leftMs])).toEqual([
      [undefined, 250],
      [999, 220],
      [998, 190],
      [997, 160],
    ]);
  });

  test('ends the count when it is used up, and the answer says how far back it counted', async () => {
    const { asked, figures } = slowThread(100, 100);
    expect(await figures.count(1, { kind: 'all' }, times, { now })).toEqual({
      counts: [{ bucket: 0, level: 'info', count: 3 }],
      searchedTo: 5_997,
    });
    expect(asked).toHaveLength(3);
  });
});
