import { expect, test } from 'vitest';
import { eventually } from '#test/support/eventually.ts';
import { type DueTimes, Schedule } from './schedule.ts';

test('what is put while it looks, too late for that look, has another one', async () => {
  const looks: { resolve(next: undefined): void }[] = [];
  const dueTimes = {
    next: () => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      looks.push({ resolve });
      return promise;
    },
    count: async () => 0,
    put: async () => undefined,
  } as unknown as DueTimes;
  const now = () => 1_000;
  const onError = () => undefined;
  const schedule = new Schedule({ dueTimes, now, monotonicNow: now, isShared: false, onError });
  schedule.start();
  await eventually(() => expect(looks).toHaveLength(1));
  await schedule.put({ tenant: 1, kind: 'expectation', subject: 'k' }, 0, {});
  looks[0]?.resolve(undefined);
  await eventually(() => expect(looks).toHaveLength(2));
  looks[1]?.resolve(undefined);
  await schedule.stop();
});

test('where there is no room, one count serves for a second; one that only grew is made again', async () => {
  let at = 0;
  let stored = 1_000;
  let counts = 0;
  const dueTimes = {
    find: async () => undefined,
    count: async () => {
      counts += 1;
      return stored;
    },
    put: async () => undefined,
  } as unknown as DueTimes;
  const now = () => at;
  const onError = () => undefined;
  const schedule = new Schedule({ dueTimes, now, monotonicNow: now, isShared: false, onError });
  const put = () => schedule.put({ tenant: 1, kind: 'expectation', subject: 'k' }, 60_000, {});
  for (let i = 0; i < 100; i += 1) await expect(put()).rejects.toThrow('there are 1000 expectations already');
  expect(counts).toBe(1);
  stored = 999;
  at = 1_000;
  for (let i = 0; i < 3; i += 1) await put();
  expect(counts).toBe(4);
});
