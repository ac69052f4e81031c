import { describe, expect, test } from 'vitest';
import type { RuleSpec } from '#contract/routing/rule.ts';
import { levels } from '#test/support/arbitrary-rules.ts';
import { base, panels, recorded } from '#test/support/recorded.ts';
import { ruleSpecWith } from '#test/support/rule-spec.ts';
import type { Recorded } from './explain.ts';
import { type ReplayEntry, replay } from './replay.ts';
import { compileRules } from './rules.ts';

const core = ruleSpecWith({
  id: 'core',
  when: { title: { contains: 'core switch' } },
  then: { suppress: { when: { title: { contains: 'unreachable' } }, equal: ['host'] } },
  continue: true,
});
const long = { ttl: 0, sentTtl: 0 };
const cause = (i: number, given: Partial<Recorded> = {}) =>
  recorded(i, { ...long, title: 'core switch down', key: 'core', ...given });
const follower = (i: number, given: Partial<Recorded> = {}) =>
  recorded(i, { ...long, title: 'host unreachable', ...given });
const cleared = (i: number, at: number, over: object = {}) => ({
  ...{ kind: 'clear' as const, position: 1, id: `n${i}`, reason: 'cleared' as const, by: 'Ada' },
  ...{ at: base + at * 1000, route: recorded(0).route, ...over },
});
const channels = [{ id: 'mail', name: 'mail', enabled: true }];
const setting = { before: channels, after: channels, now: base + 100_000, firstShown: async () => new Map() };
const run = (entries: readonly ReplayEntry[], ...rules: RuleSpec[]) =>
  replay(entries, compileRules({ revision: 9, rules }, { levels }), panels, setting);
/** The ids of what is suppressed. */
const suppressed = async (...entries: ReplayEntry[]) =>
  (await run(entries, core)).examples
    .filter(({ change }) => change === 'suppressed')
    .map(({ id }) => id)
    .toReversed();

describe('of what came while a cause stood,', () => {
  test.each<[string, string[], ReplayEntry[]]>([
    [
      'what it names is suppressed',
      ['n2', 'n4'],
      [follower(1), cause(1), follower(2), recorded(3), follower(4)],
    ],
    ['what differs in a field is not', [], [cause(1), follower(2, { host: 'db-2' })]],
    ['nothing is once it was cleared', ['n2'], [cause(1), follower(2), cleared(1, 3), follower(4)]],
    [
      'nothing is once it was resolved',
      ['n2'],
      [cause(1), follower(2), cause(3, { sentLevel: 'success', level: 'success', rank: 10 }), follower(4)],
    ],
    [
      'nothing is once something else took its key',
      ['n2'],
      [cause(1), follower(2), recorded(3, { ...long, key: 'core' }), follower(4)],
    ],
    [
      'nothing is once it had expired',
      ['n5'],
      [cause(1, { ttl: 5_000, sentTtl: 5_000 }), follower(5), follower(6)],
    ],
    [
      'a repeat of the cause continues it',
      ['n5', 'n6'],
      [
        cause(1, { ttl: 5_000, sentTtl: 5_000 }),
        cause(4, { ttl: 5_000, sentTtl: 5_000 }),
        cleared(1, 4, { reason: 'replaced' }),
        follower(5),
        follower(6),
      ],
    ],
    [
      'one of two causes is enough',
      ['n3', 'n5'],
      [
        cause(1),
        cause(2, { key: null }),
        follower(3),
        cleared(1, 4),
        follower(5),
        cleared(2, 6),
        follower(7),
      ],
    ],
    [
      'an escalation of the cause continues it',
      ['n4'],
      [
        cause(1, { key: null }),
        cleared(1, 2, { by: 'belfry:escalation' }),
        cause(3, {
          key: null,
          tokenId: 'belfry:escalation',
          route: { ...recorded(0).route, escalates: 'n1' },
        }),
        follower(4),
        cleared(3, 5),
        follower(6),
      ],
    ],
    ['the cause itself is not', [], [cause(1, { title: 'core switch unreachable' }), cause(2)]],
    [
      'a cause that is suppressed still suppresses',
      ['n2', 'n3'],
      [
        cause(1),
        cause(2, { key: 'other', title: 'core switch unreachable' }),
        follower(3),
        cleared(1, 4),
        cleared(2, 5),
        follower(6),
      ],
    ],
  ])('%s', async (_, expected, entries) => {
    expect(await suppressed(...entries)).toEqual(expected);
  });
});

test('what is suppressed is on no panel, in no channel, and does not escalate', async () => {
  const all = ruleSpecWith({
    id: 'all',
    then: { panels: 'all', channels: ['mail'], escalate: [{ afterMs: 1_000 }] },
  });
  const result = await run([cause(1), follower(2), follower(3)], core, all);
  expect(result).toMatchObject({ shownBefore: 3, shownAfter: 1, escalated: 1 });
  expect(result.changes).toMatchObject({ suppressed: 2, 'no-longer-shown': 0 });
  expect(result.panels).toMatchObject([{ shownBefore: 3, shownAfter: 1 }, { shownAfter: 1 }]);
  expect(result.channels).toEqual([{ id: 'mail', name: 'mail', sentBefore: 0, sentAfter: 1 }]);
  expect(result.examples[0]).toMatchObject({
    before: { suppressed: false, throttled: false },
    after: { suppressed: true, throttled: false },
  });
});

test('what was suppressed then counts as not shown, and as no change if it still is', async () => {
  const route = { ...recorded(0).route, suppressed: { by: 'n1', key: 'k' }, channels: ['mail'] };
  const entries = [cause(1), follower(2, { route })];
  expect(await run(entries, core)).toMatchObject({ changed: 0, shownBefore: 1, shownAfter: 1, channels: [] });
  const without = await run(entries);
  expect(without).toMatchObject({ shownBefore: 1, shownAfter: 2, changes: { 'newly-shown': 1 } });
  expect(without.examples[0]?.before.suppressed).toBe(true);
});

test('a throttle counts nothing on what is suppressed', async () => {
  const throttling = ruleSpecWith({ id: 't', then: { throttle: { by: ['host'], perMs: 60_000 } } });
  const entries = [cause(1), follower(2), recorded(3), recorded(4), follower(5), cleared(1, 6), follower(7)];
  const byHost = { ...core, continue: false };
  expect((await run(entries, byHost, throttling)).changes).toMatchObject({ suppressed: 1, throttled: 3 });
});
