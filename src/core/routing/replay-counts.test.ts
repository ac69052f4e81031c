import { expect, test } from 'vitest';
import { levels } from '#test/support/arbitrary-rules.ts';
import { base, panels, recorded } from '#test/support/recorded.ts';
import { ruleSpecWith } from '#test/support/rule-spec.ts';
import { routeRecorded } from './explain.ts';
import { type ReplayEntry, replay } from './replay.ts';
import { ReplayedEscalations } from './replay-counts.ts';
import { compileRules } from './rules.ts';

const escalating = (unless?: 'shown', afterMs = 5_000) =>
  ruleSpecWith({
    id: 'r1',
    then: { escalate: [{ afterMs, ...(unless && { unless }) }, { afterMs: 1_000 }] },
  });
const cleared = (i: number, at: number, over: object = {}) => ({
  ...{ kind: 'clear' as const, position: 1, id: `n${i}`, reason: 'cleared' as const, by: 'Ada' },
  ...{ at: base + at * 1000, route: recorded(0).route, ...over },
});
const acknowledged = (i: number, at: number) => ({
  ...{ kind: 'acknowledgement' as const, position: 1, id: `n${i}`, by: 'Ada', note: null },
  ...{ at: base + at * 1000, route: recorded(0).route },
});
const long = { ttl: 0, sentTtl: 0 };
const repeat = (from: number, to: number, key: string) =>
  Array.from({ length: to - from }, (_, i) => recorded(from + i, { ...long, key }));
/** `shown`: when a panel showed what. */
const escalated = async (
  entries: readonly ReplayEntry[],
  by = escalating(),
  shown: Readonly<Record<string, number>> = {},
) => {
  const firstShown = async (ids: readonly string[]) =>
    new Map(ids.flatMap((id) => (id in shown ? [[id, base + (shown[id] as number) * 1000] as const] : [])));
  const setting = { before: [], after: [], now: base + 100_000, firstShown };
  const router = compileRules({ revision: 9, rules: [by] }, { levels });
  return (await replay(entries, router, panels, setting)).escalated;
};

test.each<[string, number, readonly ReplayEntry[]]>([
  ['what nobody acknowledged', 1, [recorded(0, long)]],
  ['what is not due yet', 0, [recorded(96, long)]],
  ['what was acknowledged in time', 0, [recorded(0, long), acknowledged(0, 4)]],
  ['what was acknowledged too late', 1, [recorded(0, long), acknowledged(0, 6)]],
  ['what was cleared in time', 0, [recorded(0, long), cleared(0, 4)]],
  ['what had expired', 0, [recorded(0, { ttl: 4_000, sentTtl: 4_000 })]],
  ['what a sender repeats, once', 1, repeat(0, 30, 'k')],
  [
    'what an "up" replaced in time, and what came after',
    1,
    [
      recorded(0, { ...long, key: 'k' }),
      recorded(1, { ...long, key: 'k', tokenId: 'up' }),
      ...repeat(2, 9, 'k'),
    ],
  ],
  [
    'what was escalated then, and acknowledged after that',
    1,
    [
      recorded(0, { ...long, key: 'k' }),
      cleared(0, 6, { reason: 'replaced', by: 'n6' }),
      recorded(6, { ...long, key: 'k', tokenId: 'belfry:escalation' }),
      acknowledged(6, 8),
      ...repeat(9, 30, 'k'),
    ],
  ],
])('%s counts %i', async (_, count, entries) => {
  const by = escalating();
  expect(await escalated(entries, { ...by, when: { not: { token: ['up'] } } })).toBe(count);
});

test('what was acknowledged after it was escalated then is in time for a longer step, with and without a key', async () => {
  for (const key of ['k', null]) {
    const route = { ...recorded(0).route, escalates: 'n0' };
    const entries = [
      recorded(0, { ...long, key }),
      ...(key === null ? [] : [cleared(0, 5, { reason: 'replaced', by: 'n5' })]),
      recorded(5, { ...long, key, tokenId: 'belfry:escalation', route }),
      ...(key === null ? [cleared(0, 5, { reason: 'replaced', by: 'n5' })] : []),
      acknowledged(5, 6),
    ];
    expect([key, await escalated(entries, escalating(undefined, 10_000))]).toEqual([key, 0]);
    expect([key, await escalated(entries)]).toEqual([key, 1]);
  }
});

test('unless shown, what a panel has shown in time does not count, nor do its repeats', async () => {
  const by = escalating('shown');
  expect(await escalated([recorded(0, long)], by)).toBe(1);
  expect(await escalated([recorded(0, long)], by, { n0: 5 })).toBe(0);
  expect(await escalated([recorded(0, long)], by, { n0: 6 })).toBe(1);
  expect(await escalated(repeat(0, 30, 'k'), by, { n1: 2 })).toBe(0);
});

test('a silent sender is reported although its last notification was acknowledged', async () => {
  const route = { ...recorded(0).route, origin: 'belfry:expectation' };
  const entries = [recorded(0, { ...long, key: 'k' }), acknowledged(0, 1)];
  expect(await escalated([...entries, recorded(20, { ...long, key: 'k' })])).toBe(0);
  expect(await escalated([...entries, recorded(20, { ...long, key: 'k', route })])).toBe(1);
});

test('what is cleared is found without a look at the other alarms, and panels are asked about many at once', async () => {
  const most = 2_000;
  const asked: number[] = [];
  const alarms = new ReplayedEscalations(async (ids) => {
    asked.push(ids.length);
    return new Map();
  });
  const router = compileRules({ revision: 9, rules: [escalating('shown')] }, { levels });
  for (let i = 0; i < most; i += 1) {
    const record = recorded(i, { ...long, key: `k${i}` });
    alarms.add(record, routeRecorded(record, router, record.receivedAt), true);
  }
  const iterate = Map.prototype[Symbol.iterator];
  let iterations = 0;
  Map.prototype[Symbol.iterator] = function () {
    iterations += 1;
    return iterate.call(this);
  };
  try {
    for (let i = 0; i < most / 2; i += 1) alarms.change(cleared(i, i));
  } finally {
    Map.prototype[Symbol.iterator] = iterate;
  }
  expect(iterations).toBe(0);
  expect((await alarms.counts(Number.POSITIVE_INFINITY)).get('r1')).toBe(most / 2);
  expect(asked).toEqual([500, 500]);
});
