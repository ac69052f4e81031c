import type { FastifyReply } from 'fastify';
import { expect, test } from 'vitest';
import { Limits } from '#core/limits.ts';
import { limitWrongCodes } from './wrong-codes.ts';

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
  expect(await triesOf(100, 100)).toBe(300);
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
