import { expect, test } from 'vitest';
import { WorkerClient } from './thread.ts';

/** Answers `echo`; handles calls of `double` together, and fails all of them when one is negative. */
const script = `
  import { serveWorker } from '${new URL('./thread.ts', import.meta.url)}';
  const double = (numbers) => {
    if (numbers.some((number) => number < 0)) throw new Error('negative');
    return numbers.map((number) => 2 * number);
  };
  const handle = (op, args) => {
    if (op === 'end') process.exit(3);
    return args;
  };
  serveWorker(handle, () => 'closed', { op: 'double', weight: () => 1, maxWeight: 3, handle: double });
`;
const start = () =>
  new WorkerClient(new URL(`data:text/javascript,${encodeURIComponent(script)}`), undefined);
const settled = (calls: readonly Promise<unknown>[]) =>
  Promise.all(calls.map((call) => call.catch((error: Error) => error.message)));

test('each call has its own answer, however they are handled together', async () => {
  const thread = start();
  // What comes before it runs is there at once.
  const calls = [1, 2, 3, 4].map((number) => thread.call('double', number));
  expect(await settled([...calls, thread.call('echo', 'x')])).toEqual([2, 4, 6, 8, 'x']);
  // The batch of two fails, and nothing behind it.
  const mixed = [thread.call('double', 1), thread.call('double', -1), thread.call('echo', 'y')];
  const [first, second, echo] = await settled(mixed);
  expect([second, echo]).toEqual(['negative', 'y']);
  expect(['negative', 2]).toContain(first);
  expect(await thread.call('double', 5)).toBe(10);
  expect(await thread.close(60_000)).toBe(true);
});

test('a thread that ends fails every call that waits, and those that come', async () => {
  const thread = start();
  const waiting = [thread.call('end', undefined), thread.call('echo', 1), thread.call('double', 1)];
  const ended = 'a storage thread ended before it answered';
  expect(await settled(waiting)).toEqual([ended, ended, ended]);
  await expect(thread.call('echo', 2)).rejects.toThrow(ended);
});
