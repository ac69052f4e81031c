import { expect, test } from 'vitest';
import { MailBudget } from './mail-budget.ts';

const minuteMs = 60_000;
const ofTenant = (tenant: number, id = 'a') => ({ tenant, id });

test('a tenant has so many mails an hour, a recipient is one, and others have their own', () => {
  const budget = new MailBudget(60);
  expect(budget.take(ofTenant(1), 50, 0)).toBe(0);
  expect(budget.take(ofTenant(1), 10, 0)).toBe(0);
  expect(budget.take(ofTenant(1), 5, 0)).toBe(5 * minuteMs);
  expect(budget.take(ofTenant(2), 60, 0)).toBe(0);
  // What waits is counted once; a clock that is set back gives nothing.
  expect(budget.take(ofTenant(1), 5, 4 * minuteMs)).toBe(minuteMs);
  expect(budget.take(ofTenant(1), 5, 5 * minuteMs)).toBe(0);
  expect(budget.take(ofTenant(1), 1, 0)).toBe(minuteMs);
  // A mail to more than an hour's worth takes all of it.
  expect(budget.take(ofTenant(3), 90, 0)).toBe(0);
  expect(budget.take(ofTenant(3), 90, 59 * minuteMs)).toBe(minuteMs);
});

test('a mail to many has its turn while another channel sends without end', () => {
  const budget = new MailBudget(60);
  expect(budget.take(ofTenant(1, 'one'), 60, 0)).toBe(0);
  let sentAt: number | undefined;
  for (let now = 0; now <= 60 * minuteMs && sentAt === undefined; now += minuteMs) {
    budget.take(ofTenant(1, 'one'), 1, now);
    // It comes late each time.
    if (now % (10 * minuteMs) === 0 && budget.take(ofTenant(1, 'many'), 50, now) === 0) sentAt = now;
  }
  expect(sentAt).toBe(60 * minuteMs);
});

test('a clock that is set back far holds up nothing for long, and other recipients are another mail', () => {
  const budget = new MailBudget(60);
  budget.take(ofTenant(1), 60, 1_000_000 * minuteMs);
  expect(budget.take(ofTenant(1), 2, 1_000_000 * minuteMs)).toBe(2 * minuteMs);
  expect(budget.take(ofTenant(1), 2, 0)).toBe(2 * minuteMs);
  expect(budget.take(ofTenant(1), 2, 2 * minuteMs)).toBe(0);
  expect(budget.take(ofTenant(1), 2, 2 * minuteMs)).toBe(2 * minuteMs);
  expect(budget.take(ofTenant(1), 3, 2 * minuteMs)).toBe(5 * minuteMs);
});
