import { expect, test, vi } from 'vitest';
import type { DueTimes } from './due-times.ts';
import { Schedule } from './schedule.ts';

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
  await vi.waitFor(() => expect(looks).toHaveLength(1));
  await schedule.put({ tenant: 1, kind: 'escalation', subject: 'k' }, 0, {});
  looks[0]?.resolve(undefined);
  await vi.waitFor(() => expect(looks).toHaveLength(2));
  looks[1]?.resolve(undefined);
  await schedule.stop();
});
