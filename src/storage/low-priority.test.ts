import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { pauseUnderLoad } from './low-priority.ts';

const workFor = (ms: number) => {
  for (const endsAt = performance.now() + ms; performance.now() < endsAt; );
};

test('with few cores, searches pause nine times as long as they work while the main thread is always busy, a second at most, and not at all while it is idle', async () => {
  const pauseMs = pauseUnderLoad(2);
  workFor(50);
  expect(pauseMs(10)).toBeCloseTo(90, -1);
  workFor(50);
  expect(pauseMs(5_000)).toBe(1_000);
  await sleep(200);
  expect(pauseMs(10)).toBe(0);
});

test('with enough cores, searches never pause', () => {
  const pauseMs = pauseUnderLoad(4);
  workFor(50);
  expect(pauseMs(10)).toBe(0);
});
