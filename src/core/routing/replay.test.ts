import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RuleSpec } from '#contract/routing/rule.ts';
import { levels, moment, ruleSpec, subject } from '#test/support/arbitrary-rules.ts';
import { panels, recorded } from '#test/support/recorded.ts';
import { ruleSpecWith } from '#test/support/rule-spec.ts';
import type { Entry, LogPage } from '../log/log.ts';
import { everyPanel } from '../log/target.ts';
import type { Recorded } from './explain.ts';
import { type ReplayEntry, replay, replayed, replayStart } from './replay.ts';
import { ChannelSendings, type ReplayChannel } from './replay-counts.ts';
import { ReplayedCauses } from './replay-suppress.ts';
import { compileRules } from './rules.ts';
import { Throttle } from './throttle.ts';

const rule = (given: Partial<RuleSpec>) => ruleSpecWith({ id: 'r1', name: 'draft', ...given });
const run = (records: readonly Recorded[], ...rules: RuleSpec[]) =>
  replay(records, compileRules({ revision: 9, rules }, { levels }), panels);

const none = {
  muted: 0,
  throttled: 0,
  suppressed: 0,
  'newly-shown': 0,
  'no-longer-shown': 0,
  'other-panels': 0,
  'other-look': 0,
};

test('rules that say the same change nothing', async () => {
  expect(await run([recorded(1), recorded(2)])).toEqual({
    considered: 2,
    changed: 0,
    shownBefore: 2,
    shownAfter: 2,
    escalated: 0,
    changes: none,
    rules: [],
    ...{ panels: [], channels: [] },
    examples: [],
  });
  expect(await run([recorded(1)], rule({ then: { panels: 'all' } }))).toMatchObject({ changed: 0 });
});

test('a change is listed with before and after, newest first', async () => {
  const { examples, ...counts } = await run(
    [recorded(1), recorded(2, { host: 'web-1' }), recorded(3)],
    rule({ when: { host: ['db-*'] }, then: { panels: { tags: ['noc'] }, setLevel: 'error' } }),
  );
  expect(counts).toEqual({
    considered: 3,
    changed: 2,
    changes: { ...none, 'other-panels': 2 },
    shownBefore: 3,
    shownAfter: 3,
    escalated: 0,
    rules: [{ id: 'r1', name: 'draft', matchedBefore: 0, matchedAfter: 2, escalated: 0 }],
    panels: [{ id: 'p2', name: 'wall 2', shownBefore: 3, shownAfter: 1 }],
    channels: [],
  });
  expect(examples.map(({ id }) => id)).toEqual(['n3', 'n1']);
  expect(examples[1]).toEqual({
    id: 'n1',
    title: 'title 1',
    host: 'db-1',
    receivedAt: '2026-11-02T12:00:01.000Z',
    change: 'other-panels',
    before: {
      level: 'warning',
      ttl: 120_000,
      muted: false,
      throttled: false,
      suppressed: false,
      target: { all: true, ids: [], tags: [] },
      rules: [],
    },
    after: {
      level: 'error',
      ttl: 0,
      muted: false,
      throttled: false,
      suppressed: false,
      target: { all: false, ids: [], tags: ['noc'] },
      rules: ['draft'],
    },
  });
});

describe('a change is seen in', () => {
  test.each<[string, RuleSpec['then'], boolean]>([
    ['the level', { setLevel: 'error', setTtl: 120_000 }, true],
    ['the ttl', { setTtl: 1 }, true],
    ['muting', { mute: true }, false],
    ['the panels', { panels: { ids: ['p2'] } }, true],
    ['panels that nobody has', { panels: { tags: ['nobody'] } }, false],
    ['no panel', { panels: 'none' }, false],
  ])('%s', async (_, then, isShown) => {
    expect(await run([recorded(1)], rule({ then }))).toMatchObject({
      changed: 1,
      shownBefore: 1,
      shownAfter: isShown ? 1 : 0,
    });
  });

  test('neither the order of panels nor the rules that chose them', async () => {
    const route = {
      revision: 1,
      rules: [{ id: 'old', name: 'old' }],
      muted: false,
      target: { all: false, ids: ['p1', 'p2'], tags: [] },
    };
    expect(
      await run([recorded(1, { route })], rule({ then: { panels: { ids: ['p2', 'p1'] } } })),
    ).toMatchObject({ changed: 0 });
  });
});

test('what was sent is routed, not what rules had made of it', async () => {
  const raised = recorded(1, { level: 'error', ttl: 5, sentLevel: 'info', sentTtl: 9 });
  const { examples } = await run([raised], rule({ when: { minLevel: 'warning' }, then: { mute: true } }));
  expect(examples[0]?.after).toMatchObject({ level: 'info', ttl: 9, muted: false });
});

test('a throttle shows what is more serious, and what comes after its card was cleared', async () => {
  const router = compileRules(
    { revision: 9, rules: [rule({ then: { throttle: { by: ['host'], perMs: 60_000 } } })] },
    { levels },
  );
  const cleared = (i: number, reason: 'cleared' | 'replaced') =>
    ({
      kind: 'clear',
      position: 0,
      id: recorded(i).id,
      reason,
      by: 'x',
      at: 0,
      route: recorded(i).route,
    }) as const;
  const shown = async (...entries: ReplayEntry[]) => (await replay(entries, router, panels)).shownAfter;
  const critical = { level: 'critical', rank: 50, sentLevel: 'critical' };
  expect(await shown(recorded(1), recorded(2))).toBe(1);
  expect(await shown(recorded(1), recorded(2, critical), recorded(3, critical), recorded(4))).toBe(2);
  expect(await shown(recorded(1), cleared(1, 'cleared'), recorded(2), recorded(3))).toBe(2);
  expect(await shown(recorded(1), cleared(1, 'replaced'), recorded(2))).toBe(1);
});

test('throttles count as they would have, from the oldest on', async () => {
  const throttled = rule({ then: { throttle: { by: ['host'], perMs: 2500 } } });
  const { examples, ...counts } = await run(
    [1, 2, 3, 4, 5].map((i) => recorded(i)),
    throttled,
  );
  expect(counts).toEqual({
    considered: 5,
    changed: 3,
    changes: { ...none, throttled: 3 },
    shownBefore: 5,
    shownAfter: 2,
    escalated: 0,
    rules: [{ id: 'r1', name: 'draft', matchedBefore: 0, matchedAfter: 5, escalated: 0 }],
    panels: panels.map(({ id, name }) => ({ id, name, shownBefore: 5, shownAfter: 2 })),
    channels: [],
  });
  expect(examples.map(({ id }) => id)).toEqual(['n5', 'n3', 'n2']);
});

test('channels are counted as rules choose them, and one that is off is sent none', () => {
  const route = (...channels: string[]) => ({
    ...{ revision: 1, rules: [], muted: false, channels },
    target: { all: true, ids: [], tags: [] },
  });
  const sendings = new ChannelSendings();
  for (const channels of [['a', 'b'], ['a'], []]) {
    sendings.add('sentBefore', route(...channels));
    sendings.add('sentAfter', route('b', 'c', 'd'));
  }
  sendings.add('sentAfter', { ...route('a'), muted: true });
  const [a, b, c] = ['a', 'b', 'c'].map((id) => ({ id, name: id, enabled: true })) as [
    ReplayChannel,
    ReplayChannel,
    ReplayChannel,
  ];
  expect(sendings.changed([a, { ...b, enabled: false }], [{ ...a, enabled: false }, b, c])).toEqual([
    { id: 'a', name: 'a', sentBefore: 2, sentAfter: 0 },
    { id: 'b', name: 'b', sentBefore: 0, sentAfter: 3 },
    { id: 'c', name: 'c', sentBefore: 0, sentAfter: 3 },
  ]);
  expect(sendings.changed([b], [b])).toEqual([{ id: 'b', name: 'b', sentBefore: 1, sentAfter: 3 }]);
});

test('the newest 20 of each kind of change are kept, so that few are not lost among many', async () => {
  const records = Array.from({ length: 250 }, (_, i) => recorded(i, { host: i === 3 ? 'rare' : 'many' }));
  const { changed, changes, examples } = await run(
    records,
    rule({ when: { host: ['many'] }, then: { mute: true } }),
    rule({ id: 'r2', when: { host: ['rare'] }, then: { panels: 'none' } }),
  );
  expect([changed, changes]).toEqual([250, { ...none, muted: 249, 'no-longer-shown': 1 }]);
  expect([examples.length, examples[0]?.id, examples[19]?.id]).toEqual([21, 'n249', 'n230']);
  expect(examples[20]).toMatchObject({ id: 'n3', change: 'no-longer-shown' });
});

test.each<[string, Partial<Recorded>, RuleSpec['then']]>([
  ['muted', {}, { mute: true }],
  ['newly-shown', { route: { revision: 1, rules: [], muted: true, target: everyPanel } }, { panels: 'all' }],
  ['no-longer-shown', {}, { panels: { tags: ['nobody'] } }],
  ['other-panels', {}, { panels: { ids: ['p2'] } }],
  ['other-look', {}, { setTtl: 7 }],
])('a change comes to: %s', async (change, given, then) => {
  const { changes, examples } = await run([recorded(1, given)], rule({ then }));
  expect(changes).toEqual({ ...none, [change]: 1 });
  expect(examples).toMatchObject([{ change }]);
});

test('the rules in force, replayed over what they decided, change nothing', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(ruleSpec, { maxLength: 8 }),
      fc.array(fc.tuple(subject, moment), { maxLength: 12 }),
      // What is suppressed is not counted on: intake decides that with the alarms that stand.
      fc.constantFrom('throttle' as const, 'suppress' as const),
      async (given, sent, left) => {
        const rules = given.map(
          (spec) => ({ ...spec, then: { ...spec.then, [left]: undefined } }) as RuleSpec,
        );
        const router = compileRules({ revision: 1, rules }, { levels });
        const throttle = new Throttle();
        const causes = new ReplayedCauses();
        const history = sent
          .toSorted(([, a], [, b]) => a - b)
          .map(([one, receivedAt], i): Recorded => {
            const decision = router.route(one, receivedAt);
            const { level, ttl, route, throttle: demands } = decision;
            const throttledOn = throttle.check(1, demands, `n${i}`, receivedAt)?.on ?? null;
            const record = {
              ...one,
              id: `n${i}`,
              receivedAt,
              level,
              ttl,
              sentLevel: one.level,
              sentTtl: one.ttl,
              route,
              throttledOn,
            };
            const isSuppressed = throttledOn === null && causes.add(record, decision);
            return isSuppressed
              ? { ...record, route: { ...route, suppressed: { by: 'cause', key: 'k' } } }
              : record;
          });
        const compared = await replay(history, router, panels);
        expect(compared).toMatchObject({ considered: history.length, changed: 0, examples: [] });
        expect(compared.shownAfter).toBe(compared.shownBefore);
      },
    ),
    { numRuns: 300 },
  );
});

/** A log whose entries were received at these times; a negative one is the clearing of a notification. */
function logOf(times: readonly number[], first = 1) {
  const entries = times.map((time, i): Entry => {
    const position = first + i;
    const entry =
      time < 0
        ? { kind: 'clear', position, at: -time }
        : { kind: 'notification', position, receivedAt: time };
    return entry as unknown as Entry;
  });
  const head = first + times.length - 1;
  let reads = 0;
  return {
    reads: () => reads,
    bounds: async () => ({ head, first }),
    async readAfter(_tenant: number, position: number, limit: number): Promise<LogPage> {
      reads += 1;
      const after = entries.filter((entry) => entry.position > position);
      return { head, first, entries: after.slice(0, limit) };
    },
  };
}

const positions = async (log: ReturnType<typeof logOf>, since: number, most = 1_000) => {
  const start = await replayStart(log, 1, since, most);
  const found: number[] = [];
  for await (const { position } of replayed(log, 1, start)) found.push(position);
  return { found, complete: start.complete };
};

describe('the range of a replay', () => {
  test('begins with the first notification of the time asked for', async () => {
    const log = logOf([10, 20, 30, 40, 50]);
    expect(await positions(log, 30)).toEqual({ found: [3, 4, 5], complete: true });
    expect(await positions(log, 31)).toEqual({ found: [4, 5], complete: true });
    expect(await positions(log, 0)).toEqual({ found: [1, 2, 3, 4, 5], complete: true });
    expect(await positions(log, 51)).toEqual({ found: [], complete: true });
  });

  test('holds what became of them, and leaves out what retention dropped', async () => {
    expect(await positions(logOf([10, -15, 20, -25]), 0)).toEqual({ found: [1, 2, 3, 4], complete: true });
    expect(await positions(logOf([10, 20, 30], 501), 20)).toEqual({ found: [502, 503], complete: true });
    expect(await positions(logOf([]), 0)).toEqual({ found: [], complete: true });
  });

  test('says so when the bound is reached, and looks at the newest then', async () => {
    const log = logOf([10, 20, 30, 40, 50]);
    expect(await positions(log, 0, 2)).toEqual({ found: [4, 5], complete: false });
    expect(await positions(log, 45, 2)).toEqual({ found: [5], complete: true });
    expect(await positions(log, 0, 5)).toEqual({ found: [1, 2, 3, 4, 5], complete: true });
  });

  test('is found in a long log by few reads', async () => {
    const log = logOf(Array.from({ length: 100_000 }, (_, i) => i));
    const { after } = await replayStart(log, 1, 70_000, 1_000_000);
    expect(after).toBe(70_000);
    expect(log.reads()).toBeLessThan(20);
  });
});
