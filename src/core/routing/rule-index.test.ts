import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { noTexts } from '#contract/history/fields.ts';
import type { RuleSpec, RuleWhen } from '#contract/routing/rule.ts';
import { levels, moment, ruleSpec, subject } from '#test/support/arbitrary-rules.ts';
import { addressKey, bitsOf, blocksOf, compareAddresses, parseAddressRange } from '../addresses.ts';
import { matchesRule, type Router } from './router.ts';
import { compileRules } from './rules.ts';
import { EvaluationContext, type RoutingSubject } from './subject.ts';

/** The walk without an index, as the interface tells it. */
function naiveMatches(router: Router, sent: RoutingSubject, now: number): string[] {
  const matching: string[] = [];
  for (const rule of router.rules) {
    if (!rule.spec.enabled || !matchesRule(rule, new EvaluationContext(sent), now)) continue;
    matching.push(rule.ref.id);
    if (!rule.spec.continue) break;
  }
  return matching;
}

test('the index never changes what matches', () => {
  fc.assert(
    fc.property(
      fc.array(ruleSpec, { maxLength: 12 }),
      fc.array(fc.tuple(subject, moment), { minLength: 1, maxLength: 8 }),
      (rules, sent) => {
        const router = compileRules({ revision: 1, rules }, { levels });
        for (const [one, now] of sent) {
          expect(router.route(one, now).route.rules.map(({ id }) => id)).toEqual(
            naiveMatches(router, one, now),
          );
        }
      },
    ),
    { numRuns: 1000 },
  );
});

const sent: RoutingSubject = {
  title: 'disk 0042 is full',
  message: 'on server 0042',
  level: 'error',
  rank: 40,
  ttl: null,
  ...noTexts,
  ip: '10.0.0.42',
  sourceIp: '2001:db8::2a',
  host: 'db-0042.example.com',
  key: 'disk/0042',
  tokenId: 'tok0042',
  tokenName: 'ci',
};
const four = (i: number) => String(i).padStart(4, '0');
const specs = (count: number, when: (i: number) => RuleWhen): RuleSpec[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `r${i}`,
    name: `rule ${i}`,
    enabled: true,
    when: when(i),
    then: { panels: 'none' },
    continue: true,
    activeFrom: null,
    activeUntil: null,
    windows: [],
    timeZone: 'UTC',
    note: '',
  }));
const tested = (rules: RuleSpec[], one = sent) =>
  compileRules({ revision: 1, rules }, { levels }).countCandidates(one);

describe('of 10,000 rules, those tested are the few that can match', () => {
  test.each<[string, (i: number) => RuleWhen]>([
    ['exact hosts', (i) => ({ host: [`db-${four(i)}.example.com`] })],
    ['hosts by their start', (i) => ({ host: [`db-${four(i)}*`] })],
    ['hosts by their end', (i) => ({ host: [`*-${four(i)}.example.com`] })],
    ['hosts by what is in them', (i) => ({ host: [`*${four(i)}*`] })],
    ['lists of hosts', (i) => ({ host: [`db-${four(i)}.example.com`, `web-${four(i)}*`] })],
    ['keys', (i) => ({ key: [`disk/${four(i)}`] })],
    ['tokens', (i) => ({ token: [`tok${four(i)}`] })],
    ['addresses', (i) => ({ ip: [`10.0.${i >> 8}.${i & 255}`] })],
    ['blocks', (i) => ({ ip: [`10.0.${i >> 6}.${(i & 63) << 2}/30`] })],
    [
      'IPv6 ranges',
      (i) => ({ sourceIp: [`2001:db8::${(i * 4).toString(16)}-2001:db8::${(i * 4 + 3).toString(16)}`] }),
    ],
    ['words in titles', (i) => ({ title: { contains: `disk ${four(i)} is` } })],
    ['patterns of titles', (i) => ({ title: { glob: `disk ${four(i)} *` } })],
    ['a shared level beside the host', (i) => ({ level: ['error'], host: [`db-${four(i)}.example.com`] })],
    [
      'a shared token and level beside the title',
      (i) => ({ token: ['ci'], minLevel: 'info', title: { contains: four(i) } }),
    ],
    [
      'things that are excluded beside the host',
      (i) => ({ host: [`db-${four(i)}*`], not: { title: { contains: 'test' } } }),
    ],
  ])('%s', (_, when) => {
    const count = tested(specs(10_000, when));
    expect(count).toBeGreaterThanOrEqual(1);
    expect(count).toBeLessThanOrEqual(20);
  });

  test('what demands nothing is tested for every notification, in its place', () => {
    const rules = specs(3, (i) => (i === 1 ? { host: ['db-*'] } : { not: { host: ['web-*'] } }));
    expect(tested(rules)).toBe(3);
    expect(tested(rules, { ...sent, host: 'lb-1' })).toBe(2);
    const router = compileRules({ revision: 1, rules }, { levels });
    expect(router.route(sent, 0).route.rules.map(({ id }) => id)).toEqual(['r0', 'r1', 'r2']);
  });

  test('many lists at once are still walked in order, each rule once', () => {
    const rules = specs(200, (i) => ({
      host: ['db-0042*', `${'db-0042.example.com'.slice(0, (i % 19) + 1)}*`],
    }));
    const router = compileRules({ revision: 1, rules }, { levels });
    expect(router.route(sent, 0).route.rules.map(({ id }) => id)).toEqual(rules.map(({ id }) => id));
  });
});

test('a range is cut into blocks that together are the range', () => {
  const address = fc.oneof(
    fc
      .integer({ min: 0, max: 0xffff_ffff })
      .map((n) => `${n >>> 24}.${(n >>> 16) & 255}.${(n >>> 8) & 255}.${n & 255}`),
    fc.constantFrom('0.0.0.0', '255.255.255.255', '10.0.0.0', '10.255.255.255'),
  );
  fc.assert(
    fc.property(address, address, address, (a, b, probe) => {
      const [low, high] = [a, b].sort((x, y) => compareAddresses(addressKey(x), addressKey(y))) as [
        string,
        string,
      ];
      const blocks = blocksOf(parseAddressRange(`${low}-${high}`));
      for (const one of [low, high, probe]) {
        const key = addressKey(one);
        const held =
          compareAddresses(addressKey(low), key) <= 0 && compareAddresses(key, addressKey(high)) <= 0;
        expect(blocks.filter((block) => bitsOf(key).startsWith(block))).toHaveLength(held ? 1 : 0);
      }
    }),
  );
  expect(blocksOf(parseAddressRange('10.0.0.0/8'))).toHaveLength(1);
  expect(blocksOf(parseAddressRange('::/0'))).toHaveLength(1);
});
