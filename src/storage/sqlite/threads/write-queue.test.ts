import { expect, test } from 'vitest';
import { type JobOf, type PackedJobs, unpackJobs } from './jobs.ts';
import type { WorkerClient } from './thread.ts';
import { WriteQueue } from './write-queue.ts';

const receipts = (count: number): JobOf<'receipts'> => [
  'receipts',
  1,
  { id: 'p', tags: [] },
  Array.from({ length: count }, (_, i) => ({ id: `n${i}`, state: 'shown', at: i })),
];
const clear: JobOf<'clear'> = ['clear', 1, 'n', { by: 'test', at: 0 }];

/** A queue whose writer answers when the test says so. */
function createQueue(capacity: number) {
  const messages: { weight: number; answer(): void }[] = [];
  const call = (_op: string, jobs: PackedJobs, weight: number) =>
    new Promise((resolve) => {
      messages.push({ weight, answer: () => resolve(unpackJobs(jobs).map(() => [])) });
    });
  return { queue: new WriteQueue({ call } as unknown as WorkerClient, capacity), messages };
}

test('a writer without work gets a job at once; what comes while it works goes in one message', async () => {
  const { queue, messages } = createQueue(10);
  const waiting = [queue.push(...clear), queue.push(...clear), queue.push(...clear)];
  expect(messages.map(({ weight }) => weight)).toEqual([1]);
  await new Promise(setImmediate);
  expect(messages.map(({ weight }) => weight)).toEqual([1, 2]);
  for (const { answer } of messages) answer();
  await Promise.all(waiting);
});

test('a request of many receipts is a message of its own, and weighs what it writes', async () => {
  const { queue, messages } = createQueue(10_000);
  const waiting = [clear, clear, receipts(1_000), receipts(1_000)].map((job) =>
    queue.push(...(job as JobOf<'receipts'>)),
  );
  expect(messages.map(({ weight }) => weight)).toEqual([1, 1_001, 1_000]);
  for (const { answer } of messages) answer();
  await Promise.all(waiting);
});

test('receipts that wait for the disk are bounded by their number, and keep no notification out', async () => {
  const { queue, messages } = createQueue(1_500);
  const waiting = [queue.push(...receipts(1_000)), queue.push(...receipts(1_000))];
  await expect(queue.push(...receipts(1))).rejects.toMatchObject({
    code: 'unavailable',
    message: 'not stored: 2000 receipts are waiting for the disk; try again',
  });
  waiting.push(queue.push(...clear) as never);
  await new Promise(setImmediate);
  for (const { answer } of messages) answer();
  await Promise.all(waiting);
  const again = queue.push(...receipts(100));
  messages.at(-1)?.answer();
  await again;
});
