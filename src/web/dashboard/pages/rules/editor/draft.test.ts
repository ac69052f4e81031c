import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ruleSpec } from '../../../../../../test/support/arbitrary-rules.ts';
import type { RuleCreate } from '../../../../../contract/rule.ts';
import { draftOf, missingIn, newDraft, patchOf, ruleOf } from './draft.ts';
import { jsonOf, ruleFromJson } from './rule-json.ts';
import { locateProblem } from './rule-problem.ts';

const rule = ruleSpec.map(({ id: _, ...given }): Required<RuleCreate> => given);
/** A list of one and the one say the same, and so do no `not` and an empty one. */
const unlisted = (value: unknown) =>
  JSON.parse(JSON.stringify(value), (key, given) => {
    if (key === 'not' && Object.keys(given).length === 0) return undefined;
    const isList = ['contains', 'glob', 'regex'].includes(key) && Array.isArray(given);
    return isList && given.length === 1 ? given[0] : given;
  });

test('a rule that is opened and not touched says what it said', () => {
  fc.assert(
    fc.property(rule, (given) => {
      expect(ruleOf(draftOf(given, 'UTC'), 'suggested')).toEqual(unlisted(given));
    }),
  );
});

test('a rule that was copied as JSON comes back as it was, counts left out', () => {
  fc.assert(
    fc.property(rule, (given) => {
      const kept = given.windows.length > 0 ? given : { ...given, timeZone: 'UTC' };
      const read = ruleFromJson(jsonOf(kept));
      expect('rule' in read && ruleOf(draftOf(read.rule, 'UTC'), '')).toEqual(unlisted(kept));
    }),
  );
  expect(ruleFromJson('{"id":"1","hits":3,"name":"a","then":{"mute":true}}')).toEqual({
    rule: { name: 'a', then: { mute: true } },
  });
});

test.each([
  ['{', 'syntax', expect.any(String)],
  ['[]', 'shape', expect.any(String)],
  ['{"then":{},"wen":{}}', 'unknown', 'wen'],
  ['{"name":"a"}', 'shape', 'then'],
  ['{"then":{"panel":"all"}}', 'unknown', 'then.panel'],
  ['{"then":{"panels":"some"}}', 'shape', 'then.panels'],
  ['{"then":{},"when":{"not":{"hots":["a"]}}}', 'unknown', 'when.not.hots'],
  ['{"then":{},"when":{"host":"a"}}', 'shape', 'when.host'],
  ['{"then":{},"when":{"title":{"like":"a"}}}', 'shape', 'when.title'],
  ['{"then":{},"windows":[{"days":"mon"}]}', 'shape', 'windows'],
  ['{"then":{},"activeUntil":"soon"}', 'shape', 'activeUntil'],
])('of %s it is told what is wrong', (text, fault, detail) => {
  expect(ruleFromJson(text)).toEqual({ fault, detail });
});

test('only what was changed is sent', () => {
  const before = ruleOf(newDraft('UTC', { name: 'a', then: { mute: true } }), '');
  expect(patchOf(before, { ...before, then: { mute: true } })).toEqual({});
  expect(patchOf(before, { ...before, note: 'b', when: { host: ['c'] } })).toEqual({
    note: 'b',
    when: { host: ['c'] },
  });
});

test('what misses something is named before the server is asked', () => {
  const draft = newDraft('UTC', {
    conditions: [{ field: 'host', not: true, how: 'contains', values: [] }],
    then: { panels: { tags: [] } },
  });
  expect([...missingIn(draft)]).toEqual(['when.not.host', 'then.panels']);
  expect([...missingIn(newDraft('UTC'))]).toEqual(['then']);
});

describe('the server says where it is wrong', () => {
  test.each([
    ['rule "a": when.ip[2]: "x" is no address', 'when.ip', 2, '"x" is no address'],
    ['rule "a": when.not.title.regex: "(" cannot be read', 'when.not.title', undefined, '"(" cannot be read'],
    ['rule "a": then.panels.ids[1]: "p" is no panel', 'then.panels', 1, '"p" is no panel'],
    ['rule "a": then: does nothing', 'then', undefined, 'does nothing'],
    ['rule "a": activeUntil must be after', 'activeUntil', undefined, 'activeUntil must be after'],
    ['rule "a": windows[0].from: "x" is no time', 'windows', 0, '"x" is no time'],
    ['body.rules.3.when.host.1 must NOT have', 'when.host', 1, 'when.host.1 must NOT have'],
    [
      'rule "b": when.ip[2]: "x" is no address',
      undefined,
      undefined,
      'rule "b": when.ip[2]: "x" is no address',
    ],
    ['body.rules.4.name must', undefined, undefined, 'body.rules.4.name must'],
    ['not signed in', undefined, undefined, 'not signed in'],
  ])('%s', (message, place, at, text) => {
    expect(locateProblem(message, { name: 'a', index: 3 })).toEqual({
      ...(place !== undefined && { place }),
      ...(at !== undefined && { at }),
      text,
    });
  });
});
