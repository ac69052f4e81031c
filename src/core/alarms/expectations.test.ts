import { expect, test } from 'vitest';
import { raiseMissing } from './expectations.ts';
import type { DueTime } from './schedule.ts';

const data = { everyMs: 60_000, level: 'error', title: 't', host: null, token: {}, lastAt: 0, raised: null };
const due = { tenant: 1, kind: 'expectation', subject: 'k', dueAt: 1, version: 'v', data } as DueTime;

test.each([
  ['another node settled with the same notification', { ...due, data: { ...data, raised: 'R' } }, []],
  ['came in this moment', { ...due, version: 'w' }, ['R']],
  ['was ended in this moment', undefined, ['R']],
])('what %s is taken off only when it is not overdue', async (_, latest, off) => {
  const cleared: string[] = [];
  const dueTimes = { settle: async () => false, find: async () => latest };
  const context = {
    schedule: { dueTimes },
    intake: { raise: async () => 'R' },
    history: {
      clear: async (_tenant: number, id: string) => {
        cleared.push(id);
        return { kind: 'gone' };
      },
    },
    bus: { publish: () => undefined },
    credentials: { find: async () => undefined },
    now: () => 1,
  } as unknown as Parameters<typeof raiseMissing>[0];
  await raiseMissing(context, due);
  expect(cleared).toEqual(off);
});
