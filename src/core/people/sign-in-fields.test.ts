import { expect, test } from 'vitest';
import { processorMs } from '#test/support/processor-time.ts';
import { findEmail, passwordProblem, readEmail } from './sign-in-fields.ts';

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

const anna = ['Anna-Maria Huber', 'ahuber@example.org'];

test.each([
  ['short', /^is too short/],
  ['x'.repeat(257), /^is too long/],
  ['aaaaaaaaaaaaaa', /^repeats/],
  ['abababababab', /^repeats/],
  ['12345678901234', /^is a row/],
  ['abcdefghijklm', /^is a row/],
  ['qwertyuiop', /^is a row/],
  ['poiuytrewq', /^is a row/],
  ['1qaz2wsx3edc', /^is a row/],
  ['Password2026!', /most common/],
  ['P@ssw0rd!!', /most common/],
  ['passwordpassword', /most common/],
  ['!!!Welcome2026', /most common/],
  ['Belfry-2026-', /most common/],
  ['2026!!!!2027', /most common/],
  ['ahuber@example.org', /your name/],
  ['Anna-Maria Huber', /your name/],
  ['annamariahuber', /your name/],
  ['Huber!1985!!', /your name/],
  ['4hub3r123456', /your name/],
])('%s is not taken', (password, problem) => {
  expect(passwordProblem(password, anna)).toMatch(problem);
});

test.each([
  ['four plain brown boxes'],
  ['correct horse staple'],
  ['Zq7!pLm2#xW9'],
  ['Grüße aus Zürich'],
  ['パスワードは秘密のことば'],
  ['annoying hubris of the owl'],
  ['xxxabc def ghi jkl'],
])('%s is taken', (password) => {
  expect(passwordProblem(password, anna)).toBeUndefined();
});

test('a password of any length and kind is judged at once', () => {
  for (const piece of ['a', 'ab', '\u{1f989}', '\ud800', 'é', '\u0000', 'password1', ' ']) {
    const judge = () => passwordProblem(piece.repeat(Math.floor(256 / piece.length)), [piece.repeat(100)]);
    expect(processorMs(judge)).toBeLessThan(100);
  }
});
