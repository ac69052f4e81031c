import { expect, test } from 'vitest';
import { WorkerClient } from './thread.ts';

/** Doubles numbers, three calls together at the most; fails all of them when one is negative. */
const script = `
  import { serveWorker } from '${new URL('./thread.ts', import.meta.url)}';
  const handle = (calls) => {
    if (calls.some(({ op }) => op === 'end')) process.exit(3);
    if (calls.some(({ args }) => args < 0)) throw new Error('negative');
    return calls.map(({ args }) => ({ double: 2 * args, together: calls.length }));
  };
  const thread = serveWorker(handle, () => 'closed', { maxWeight: 3, afterwards: () => thread.notify('afterwards') });
`;
const start = (onNotice?: (notice: unknown) => void) =>
  new WorkerClient(
    new URL(`data:text/javascript,${encodeURIComponent(script)}`),
    undefined,
    onNotice ? { onNotice } : {},
  );
const settled = (calls: readonly Promise<unknown>[]) =>
  Promise.all(calls.map((call) => call.catch((error: Error) => error.message)));

test('each call has its own answer, however they are handled together', async () => {
  const thread = start();
  const call = (number: number, weight?: number) => thread.call('double', number, weight);
  // What comes before it runs is there at once: the third call makes the first batch full, the fifth the second.
  const calls = [call(1), call(2), call(3), call(-4), call(5, 2), call(6, 9), call(7)];
  expect(await settled(calls)).toEqual([
    ...[2, 4, 6].map((double) => ({ double, together: 3 })),
    // A batch that fails takes nothing behind it along.
    ...['negative', 'negative'],
    { double: 12, together: 1 },
    { double: 14, together: 1 },
  ]);
  expect(await thread.call('double', 5)).toEqual({ double: 10, together: 1 });
  expect(await thread.close(60_000)).toBe(true);
});

test('what is to be done afterwards comes when answers have been sent', async () => {
  const events: unknown[] = [];
  const thread = start((notice) => events.push(notice));
  const answers = await Promise.all([1, 2].map((n) => thread.call('double', n).then(() => events.push(n))));
  expect(answers.length).toBe(2);
  await thread.close(60_000);
  expect(events).toEqual([1, 2, 'afterwards']);
});

test('a thread that ends fails every call that waits, and those that come', async () => {
  const thread = start();
  const waiting = [thread.call('end', 0), thread.call('double', 1), thread.call('double', 1, 9)];
  const ended = 'a storage thread ended before it answered';
  expect(await settled(waiting)).toEqual([ended, ended, ended]);
  await expect(thread.call('double', 2)).rejects.toThrow(ended);
});
