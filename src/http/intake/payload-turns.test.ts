import { expect, it } from 'vitest';
import type { TenantId } from '#core/ports.ts';
import { PayloadTurns } from './payload-turns.ts';

it('reads one payload at a time, and those of a tenant with many after those of others', async () => {
  const turns = new PayloadTurns();
  const order: string[] = [];
  let running = 0;
  const read = (tenant: number, name: string) =>
    turns.run(tenant as TenantId, 1_000, async () => {
      expect(++running).toBe(1);
      await Promise.resolve();
      order.push(name);
      running -= 1;
      return undefined;
    });
  await Promise.all([read(1, 'a'), read(1, 'b'), read(1, 'c'), read(2, 'x'), read(3, 'y')]);
  expect(order.indexOf('x')).toBeLessThan(order.indexOf('c'));
  expect(order.indexOf('y')).toBeLessThan(order.indexOf('c'));
  await expect(turns.run(1 as TenantId, 1, () => Promise.reject(new Error('bad')))).rejects.toThrow('bad');
  expect(await turns.run(1 as TenantId, 1, () => 7)).toBe(7);
});

it('refuses a tenant of which too much waits, and no other', async () => {
  const turns = new PayloadTurns();
  const first = Promise.withResolvers<void>();
  const bytes = 9 * 1024 * 1024;
  const waiting = turns.run(1 as TenantId, bytes, () => first.promise);
  await expect(turns.run(1 as TenantId, bytes, () => 1)).rejects.toMatchObject({ code: 'unavailable' });
  const other = turns.run(2 as TenantId, bytes, () => 2);
  first.resolve();
  await waiting;
  expect(await other).toBe(2);
  expect(await turns.run(1 as TenantId, bytes, () => 3)).toBe(3);
});
