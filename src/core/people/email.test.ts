import { expect, test } from 'vitest';
import { processorMs } from '#test/support/processor-time.ts';
import { findEmail, readEmail } from './email.ts';

test.each([
  ['anna@example.org', 'anna@example.org'],
  [' Anna.Huber+x@Mail.Example.ORG ', 'anna.huber+x@mail.example.org'],
  ["o'neill_1-2@a-b.co", "o'neill_1-2@a-b.co"],
])('%j is kept as %j', (text, kept) => {
  expect(findEmail(text)).toBe(kept);
});

test.each([
  [''],
  ['anna'],
  ['anna@localhost'],
  ['@example.org'],
  ['a..b@example.org'],
  ['.a@example.org'],
  ['a@b@example.org'],
  ['a b@example.org'],
  ['a\n@example.org'],
  ['<a@example.org>'],
  ['аnna@example.org'],
  ['\u212aelvin@example.org'],
  ['anna@exämple.org'],
  ['anna@example.org\u0000'],
  [`${'a'.repeat(250)}@example.org`],
])('%j is none', (text) => {
  expect(findEmail(text)).toBeUndefined();
  expect(() => readEmail(text)).toThrow(/^email must be an email address in plain letters/);
});

test('hostile text is judged at once', () => {
  for (const text of [`${'a.'.repeat(50_000)}@`, `a@${'a-'.repeat(50_000)}`, `a@${'a.'.repeat(50_000)}1`]) {
    expect(processorMs(() => findEmail(text))).toBeLessThan(200);
  }
});
