import { expect, test } from 'vitest';
import { hashPassword, passwordMatches } from './passwords.ts';

test('a password matches what was made of it, and no other does', async () => {
  const [a, b] = [await hashPassword('four plain boxes'), await hashPassword('four plain boxes')];
  expect(a).not.toBe(b);
  expect(a).toMatch(/^\$argon2id\$v=19\$m=47104,t=1,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(await passwordMatches(a, 'four plain boxes')).toBe(true);
  for (const wrong of ['', 'four plain boxe', 'four plain boxes ', 'Four plain boxes', 'x'.repeat(1_000_000)])
    expect(await passwordMatches(a, wrong)).toBe(false);
});

test('a hash of another cost is worked out at that cost', async () => {
  // Of the reference implementation: echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1
  const reference = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
  expect(await passwordMatches(reference, 'password')).toBe(true);
  expect(await passwordMatches(reference, 'passworD')).toBe(false);
});

test.each([
  [''],
  ['plain'],
  ['$argon2id$'],
  ['$argon2i$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJH'],
])('what is no hash of ours matches nothing: %j', async (stored) => {
  expect(await passwordMatches(stored, stored)).toBe(false);
});

test('the memory that it takes is given back at once', async () => {
  await hashPassword('four plain boxes');
  const before = process.memoryUsage.rss();
  for (let i = 0; i < 4; i++) await Promise.all([hashPassword('four plain'), hashPassword('brown boxes')]);
  // What one at a time takes is 46 MiB: with nothing given back it would be that and more.
  expect(process.memoryUsage.rss() - before).toBeLessThan(30 * 1024 * 1024);
});

test('the main thread goes on meanwhile', async () => {
  const [all, main] = [process.cpuUsage(), process.threadCpuUsage()];
  await Promise.all(['four', 'plain', 'boxes'].map(hashPassword));
  expect(process.threadCpuUsage(main).user).toBeLessThan(process.cpuUsage(all).user / 2);
});

test('beyond a queue of fifty nobody waits', async () => {
  const cheap = '$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
  const all = await Promise.allSettled(Array.from({ length: 60 }, () => passwordMatches(cheap, 'x')));
  const refused = all.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
  expect(refused).toHaveLength(8);
  for (const { reason } of refused)
    expect(reason).toMatchObject({ code: 'unavailable', retryAfterSeconds: 2 });
  expect(await hashPassword('again')).toMatch(/^\$argon2id/);
});
