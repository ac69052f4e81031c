import type { FastifyReply } from 'fastify';
import { expect, test } from 'vitest';
import { Limits } from '#core/limits/rate-limits.ts';
import { limitWrongCodes } from './pairings.ts';

const reply = { header: () => reply } as unknown as FastifyReply;

/** How many of so many tries are let through before one is refused. */
async function triesOf(callers: number, tenants: number, right = false): Promise<number> {
  const take = limitWrongCodes(new Limits(), () => 0);
  for (let tries = 0; tries < 1_000; tries++) {
    const principal = { kind: 'person', id: `p${tries % callers}`, tenant: tries % tenants } as const;
    try {
      const wasRight = await take(principal, reply);
      if (right) await wasRight();
    } catch (error) {
      expect(error).toMatchObject({ code: 'rate-limited', retryAfterSeconds: expect.any(Number) });
      return tries;
    }
  }
  return 1_000;
}

test('wrong pairing codes are limited by caller, by tenant and in all', async () => {
  expect(await triesOf(1, 1)).toBe(20);
  expect(await triesOf(5, 1)).toBe(40);
  // 300 of all together, and then three of each tenant.
  expect(await triesOf(100, 100)).toBe(600);
  expect(await triesOf(20, 10)).toBe(330);
});

test('a tenant approves its screens while others use up what all have together', async () => {
  let at = 0;
  const take = limitWrongCodes(new Limits(), () => at);
  const misses = async () => {
    for (let tries = 0; tries < 1_000; tries++) {
      const guesser = { kind: 'key', id: `k${tries % 20}`, tenant: tries % 10 } as const;
      if (
        await take(guesser, reply)
          .catch(() => true as const)
          .then((given) => given === true)
      )
        return;
    }
    throw new Error('nothing was refused');
  };
  const own = () => take({ kind: 'person', id: 'own', tenant: 100 }, reply);
  for (; at < 3_600_000; at += 600_000) {
    await misses();
    for (let screens = 0; screens < 50; screens++) await (await own())();
  }
  await misses();
  // A person may mistype a code all the same.
  for (let typos = 0; typos < 3; typos++) await own();
  await expect(own()).rejects.toThrow('rate limit exceeded');
});

test('right ones do not count', async () => {
  expect(await triesOf(1, 1, true)).toBe(1_000);
});

test('a try that one limit refuses is not counted by the others', async () => {
  let at = 0;
  const take = limitWrongCodes(new Limits(), () => at);
  const from = (id: string) => () => take({ kind: 'key', id, tenant: 1 }, reply);
  for (let i = 0; i < 20; i++) await from('a')();
  for (let i = 0; i < 100; i++) await expect(from('a')()).rejects.toThrow('rate limit exceeded');
  for (let i = 0; i < 20; i++) await from('b')();
  at = 30_000;
  await from('a')();
});
