import { expect, test } from 'vitest';
import type { RuleSpec } from '#contract/routing/rule.ts';
import { levels } from '#test/support/arbitrary-rules.ts';
import { routeTo } from '#test/support/notification-draft.ts';
import { ruleSpecWith } from '#test/support/rule-spec.ts';
import { instructionsText } from './instructions.ts';
import { compileRules } from './rules.ts';

const router = (...texts: string[]) =>
  compileRules(
    {
      revision: 1,
      rules: texts.map(
        (instructions, i): RuleSpec => ruleSpecWith({ id: `r${i}`, then: { instructions }, continue: true }),
      ),
    },
    { levels },
  );
const matched = (...ids: string[]) => ({
  route: routeTo({ all: true }, { rules: ids.map((id) => ({ id, name: id })) }),
});

test('the text has the instructions of the rules that matched, in their order now, without deleted ones', () => {
  const rules = router('first', ' second\nline \n', 'third');
  expect(instructionsText(matched('r2', 'gone', 'r1'), rules)).toBe('second\nline\n\nthird');
  expect(instructionsText(matched('gone'), rules)).toBeUndefined();
  expect(instructionsText(matched('r1'), router())).toBeUndefined();
});

test('an escalation has those of the rules of what it sends again, each once', () => {
  const escalated = { times: 1, since: 0, rules: ['r0', 'r1'] };
  const { route } = matched('r1');
  expect(instructionsText({ route: { ...route, escalated } }, router('a', 'b', 'c'))).toBe('a\n\nb');
});

test('the text of many rules is cut, with an ellipsis and no half of a character', () => {
  const texts = Array.from({ length: 20 }, () => `x${'🔥'.repeat(1_999)}`);
  const text = instructionsText(matched(...texts.map((_, i) => `r${i}`)), router(...texts)) ?? '';
  expect(text.length).toBeLessThanOrEqual(16_000);
  expect(text).toMatch(/🔥…$/);
  expect(text.isWellFormed()).toBe(true);
});
