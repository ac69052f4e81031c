import { expect, test } from 'vitest';
import { MailBudget } from './mail-budget.ts';

const minuteMs = 60_000;

test('a tenant has so many mails an hour, a recipient is one, and others have their own', () => {
  const budget = new MailBudget(60);
  expect(budget.take(1, 50, 0)).toBe(0);
  expect(budget.take(1, 10, 0)).toBe(0);
  expect(budget.take(1, 5, 0)).toBe(5 * minuteMs);
  expect(budget.take(2, 60, 0)).toBe(0);
  // What is refused takes nothing; a clock that is set back gives nothing.
  expect(budget.take(1, 5, 4 * minuteMs)).toBe(minuteMs);
  expect(budget.take(1, 5, 5 * minuteMs)).toBe(0);
  expect(budget.take(1, 1, 0)).toBe(minuteMs);
  // A mail to more than an hour's worth takes all of it.
  expect(budget.take(3, 90, 0)).toBe(0);
  expect(budget.take(3, 90, 59 * minuteMs)).toBe(minuteMs);
});
