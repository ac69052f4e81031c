import { expect, test } from 'vitest';
import { createReadCache } from './overview.ts';

function counted(fails = false) {
  let time = 1;
  let reads = 0;
  const recent = createReadCache(
    async (tenant) => {
      reads += 1;
      if (fails && reads === 1) throw new Error('not now');
      return { value: `${tenant} ${reads}` };
    },
    1000,
    { now: () => time },
  );
  const find = async (tenant: number) => (await recent.forceFetch(tenant)).value;
  return { find, reads: () => reads, pass: (ms: number) => (time += ms) };
}

test('all who ask at once get one answer, and so does who asks soon after; tenants never share one', async () => {
  const { find, reads, pass } = counted();
  expect(await Promise.all([find(1), find(1), find(2)])).toEqual(['1 1', '1 1', '2 2']);
  pass(999);
  expect(await find(1)).toBe('1 1');
  pass(2);
  expect(await find(1)).toBe('1 3');
  expect(reads()).toBe(3);
});

test('a failure is passed on to those who waited, and the next caller reads anew', async () => {
  const { find } = counted(true);
  const both = await Promise.allSettled([find(1), find(1)]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await find(1)).toBe('1 2');
});
