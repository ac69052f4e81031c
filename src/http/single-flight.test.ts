import { expect, test } from 'vitest';
import { singleFlight } from './single-flight.ts';

function counted(fails = false) {
  let time = 0;
  let asked = 0;
  const find = singleFlight(
    async (tenant) => {
      asked += 1;
      if (fails && asked === 1) throw new Error('not now');
      return `${tenant} ${asked}`;
    },
    { keepMs: 1000, now: () => time },
  );
  return { find, asked: () => asked, pass: (ms: number) => (time += ms) };
}

test('all who ask at once get one answer, and so does who asks soon after; tenants never share one', async () => {
  const { find, asked, pass } = counted();
  expect(await Promise.all([find(1), find(1), find(2)])).toEqual(['1 1', '1 1', '2 2']);
  pass(999);
  expect(await find(1)).toBe('1 1');
  pass(1);
  expect(await find(1)).toBe('1 3');
  expect(asked()).toBe(3);
});

test('a failure is told to those who waited, and the next asks anew', async () => {
  const { find } = counted(true);
  const both = await Promise.allSettled([find(1), find(1)]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await find(1)).toBe('1 2');
});
