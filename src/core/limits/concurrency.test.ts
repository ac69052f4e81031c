import { expect, test } from 'vitest';
import { FairQueue } from './concurrency.ts';

/** Jobs whose steps end when the test says so, and the order in which they were begun. */
function lab(queue = new FairQueue()) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const run = (tenant: number, name: string, steps: number, signal?: AbortSignal) => {
    let left = steps;
    const step = () => {
      begun.push(name);
      left -= 1;
      const value = left === 0 ? name : undefined;
      return new Promise<string | undefined>((resolve) => ends.push(() => resolve(value)));
    };
    return queue.run(tenant, step, signal);
  };
  const endSteps = async (count = Number.POSITIVE_INFINITY) => {
    for (let i = 0; i < count && ends.length > 0; i++) {
      ends.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { queue, begun, run, endSteps };
}

test('tenants take turns, however many jobs one of them has, and the jobs of a tenant take turns', async () => {
  const { begun, run, endSteps } = lab();
  const jobs = [run(1, 'a1', 3), run(1, 'a2', 2), run(1, 'a3', 1), run(2, 'b', 2)];
  await endSteps(2);
  jobs.push(run(3, 'c', 1));
  await endSteps();
  expect(await Promise.all(jobs)).toEqual(['a1', 'a2', 'a3', 'b', 'c']);
  expect(begun).toEqual(['a1', 'a2', 'b', 'a3', 'c', 'b', 'a1', 'a2', 'a1']);
});

test('of the steps that run at once, only so many are of one tenant', async () => {
  const { begun, run, endSteps } = lab(new FairQueue(4, undefined, 2));
  const jobs = [run(1, 'a1', 1), run(1, 'a2', 1), run(1, 'a3', 1), run(2, 'b', 1)];
  expect(begun).toEqual(['a1', 'a2', 'b']);
  await endSteps(1);
  expect(begun).toEqual(['a1', 'a2', 'b', 'a3']);
  await endSteps();
  expect(await Promise.all(jobs)).toEqual(['a1', 'a2', 'a3', 'b']);
});

test('an aborted job rejects at once, and takes no further step', async () => {
  const { begun, run, endSteps } = lab();
  const running = new AbortController();
  const waiting = new AbortController();
  const jobs = [
    run(1, 'running', 9, running.signal),
    run(2, 'waiting', 9, waiting.signal),
    run(3, 'other', 1),
  ];
  const ended = Promise.allSettled(jobs);
  waiting.abort('w');
  running.abort('r');
  await expect(jobs[0]).rejects.toBe('r');
  await expect(jobs[1]).rejects.toBe('w');
  await endSteps();
  expect(await ended).toMatchObject([{ reason: 'r' }, { reason: 'w' }, { value: 'other' }]);
  expect(begun).toEqual(['running', 'other']);
});

test('a step that fails ends its own job alone', async () => {
  const { queue, run, endSteps } = lab();
  const failing = queue.run(1, () => Promise.reject(new Error('damaged')));
  const other = run(1, 'other', 1);
  await expect(failing).rejects.toThrow('damaged');
  await endSteps();
  expect(await other).toBe('other');
});

test('a closed queue refuses what waits and what comes, and begins no further step', async () => {
  const { queue, begun, run, endSteps } = lab();
  const jobs = Promise.allSettled([run(1, 'a', 2), run(2, 'b', 1)]);
  queue.close();
  await endSteps();
  expect(await jobs).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  await expect(run(1, 'c', 1)).rejects.toMatchObject({ code: 'unavailable' });
  expect(begun).toEqual(['a']);
});

test('after a step nothing begins for as long as the pause is, and what waits can be aborted or refused', async () => {
  const took: number[] = [];
  const queue = new FairQueue(1, (tookMs) => {
    took.push(tookMs);
    return 100;
  });
  const begun: number[] = [];
  const step = async () => {
    begun.push(performance.now());
    await new Promise((resolve) => setTimeout(resolve, 30));
    return 'done';
  };
  expect(await queue.run(1, step)).toBe('done');
  const ended = performance.now();
  const aborted = new AbortController();
  const jobs = [queue.run(1, step), queue.run(2, step, aborted.signal)];
  aborted.abort('gone');
  await expect(jobs[1]).rejects.toBe('gone');
  expect(await jobs[0]).toBe('done');
  // A timer may fire a millisecond early.
  expect((begun[1] ?? 0) - ended).toBeGreaterThan(90);
  expect(took[0]).toBeGreaterThanOrEqual(29);
  const waiting = queue.run(1, step);
  queue.close();
  await expect(waiting).rejects.toThrow('the server is stopping');
  expect(begun.length).toBe(2);
});
