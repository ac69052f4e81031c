import { describe, expect, test } from 'vitest';
import { noTexts } from '#contract/history/fields.ts';
import { labelsText } from '#contract/history/labels.ts';
import type { RuleSpec, Suppress } from '#contract/routing/rule.ts';
import { ruleSpecWith } from '#test/support/rule-spec.ts';
import { compileRules, validateRule } from './rules.ts';
import type { RoutingSubject } from './subject.ts';

const levels = new Map([
  ['warning', { rank: 30, durationMs: 120_000 }],
  ['error', { rank: 40, durationMs: 0 }],
]);
const surroundings = { levels, panels: new Set<string>(), channels: new Set<string>(), onCall: new Map() };
const now = Date.parse('2026-11-02T12:00:00Z');

const core = (suppress: Suppress, given: Partial<RuleSpec> = {}) =>
  ruleSpecWith({ id: 'core', when: { title: { contains: 'core switch' } }, then: { suppress }, ...given });
const sameSite = core({ when: { title: { contains: 'unreachable' } }, equal: ['label:site'] });

const subject = (title: string, labels: Record<string, string>, given: Partial<RoutingSubject> = {}) => ({
  ...{ ...noTexts, title, message: 'm', level: 'error', rank: 40, ttl: null, sourceIp: '10.0.0.1' },
  ...{ tokenId: 't1', tokenName: 'ci', labels: labelsText(labels), ...given },
});
const keys = (rules: RuleSpec[], ...given: Parameters<typeof subject>) =>
  compileRules({ revision: 1, rules }, { levels }).route(subject(...given), now).route.suppress;

describe('the keys of a cause and of what it suppresses', () => {
  const cause = keys([sameSite], 'core switch down', { site: 'plant 2' });

  test('agree if the named fields agree', () => {
    expect(cause).toMatchObject({ causes: [{ key: expect.any(String) }], follows: [] });
    const follower = keys([sameSite], 'host unreachable', { site: 'plant 2', env: 'prod' });
    expect(follower).toEqual({ causes: [], follows: [cause?.causes[0]?.key] });
  });

  test('differ if they do not', () => {
    expect(keys([sameSite], 'host unreachable', { site: 'plant 3' })?.follows).not.toEqual([
      cause?.causes[0]?.key,
    ]);
  });

  test('are none for one that lacks a field, or that no rule names', () => {
    expect(keys([sameSite], 'host unreachable', { env: 'prod' })).toBeUndefined();
    expect(keys([sameSite], 'core switch down', {})).toBeUndefined();
    expect(keys([sameSite], 'disk full', { site: 'plant 2' })).toBeUndefined();
  });

  test('compare hosts without regard to case', () => {
    const rule = core({ when: {}, equal: ['host'] });
    const [first] = keys([rule], 'core switch', {}, { host: 'SW-1' })?.causes ?? [];
    expect(keys([rule], 'fan', {}, { host: 'sw-1' })?.follows).toEqual([first?.key]);
  });

  test('of a rule that is disabled or not active are none', () => {
    const until = new Date(now - 1).toISOString();
    for (const given of [{ enabled: false }, { activeUntil: until }])
      expect(keys([{ ...sameSite, ...given }], 'host unreachable', { site: 'plant 2' })).toBeUndefined();
  });

  test('are others once the rule suppresses something else', () => {
    const other = core({ when: { title: { contains: 'host' } }, equal: ['label:site'] });
    expect(keys([other], 'core switch down', { site: 'plant 2' })?.causes).not.toEqual(cause?.causes);
  });

  test('are none for what no panel shows', () => {
    const hidden = core({ when: {}, equal: [] }, { then: { suppress: { when: {}, equal: [] }, mute: true } });
    expect(keys([hidden], 'core switch down', {})).toBeUndefined();
  });
});

describe('a rule that suppresses', () => {
  test('is refused with a place when its conditions are wrong', () => {
    const wrong = core({ when: { title: { regex: '(' } }, equal: [] });
    expect(() => validateRule(wrong, surroundings)).toThrow(/then\.suppress\.when\.title\.regex/);
    expect(() => validateRule(core({ when: { level: ['error'] }, equal: [] }), surroundings)).not.toThrow();
  });

  test('is refused when the tenant has the most of them', () => {
    const fifty = Array.from({ length: 50 }, (_, i) => ({ ...sameSite, id: `r${i}` }));
    const router = compileRules({ revision: 1, rules: fifty }, { levels });
    expect(() => validateRule(sameSite, { ...surroundings, router })).toThrow(/at most 50/);
    expect(() => validateRule({ ...sameSite, id: 'r7' }, { ...surroundings, router })).not.toThrow();
  });
});
