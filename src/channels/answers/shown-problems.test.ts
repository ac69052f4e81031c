import { expect, test } from 'vitest';
import type { AnswerProblem, ChannelRecord } from '#core/channels/channels.ts';
import { createShownProblems } from './shown-problems.ts';

const channel = { tenant: 1, id: 'x' } as ChannelRecord;

test('a problem has the time of its first failure, and one that comes while its end is written is not lost', async () => {
  const written: (AnswerProblem | undefined)[] = [];
  let during = () => {};
  const shown = createShownProblems({
    clear: async () => undefined,
    put: async (_, problem) => {
      written.push(problem);
      during();
    },
  });
  shown.set(channel, { since: 1, message: 'a' });
  shown.set(channel, { since: 2, message: 'b' });
  await shown.write();
  await shown.write();
  expect(written).toEqual([{ since: 1, message: 'b' }]);
  during = () => shown.set(channel, { since: 4, message: 'c' });
  shown.set(channel, undefined);
  await shown.write();
  during = () => {};
  await shown.write();
  expect(written.slice(1)).toEqual([undefined, { since: 4, message: 'c' }]);
});

test('what could not be written is written later', async () => {
  let isDown = true;
  const written: unknown[] = [];
  const shown = createShownProblems({
    clear: async () => undefined,
    put: async (_, problem) => {
      if (isDown) throw new Error('down');
      written.push(problem);
    },
  });
  shown.set(channel, { since: 1, message: 'a' });
  await expect(shown.write()).rejects.toThrow('down');
  isDown = false;
  await shown.write();
  expect(written).toEqual([{ since: 1, message: 'a' }]);
});
