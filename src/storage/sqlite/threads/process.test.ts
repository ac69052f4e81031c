import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { pauseUnderLoad } from './process.ts';

const workFor = (ms: number) => {
  for (const endsAt = performance.now() + ms; performance.now() < endsAt; );
};

test('with few cores, searches pause nine times as long as they work while the main thread is always busy, a second at most, and hardly while it is idle', async () => {
  const pauseMs = pauseUnderLoad(2);
  workFor(50);
  expect(pauseMs(10)).toBeCloseTo(90, -1);
  workFor(50);
  expect(pauseMs(5_000)).toBe(1_000);
  await sleep(200);
  expect(pauseMs(10)).toBeLessThan(2);
});

test('with few cores, searches get the share of time that the main thread leaves free', async () => {
  const pauseMs = pauseUnderLoad(2);
  workFor(150);
  await sleep(50);
  // A quarter is free.
  expect(pauseMs(10)).toBeGreaterThan(15);
  expect(pauseMs(10)).toBeLessThanOrEqual(90);
});

test('with enough cores, searches never pause', () => {
  const pauseMs = pauseUnderLoad(4);
  workFor(50);
  expect(pauseMs(10)).toBe(0);
});
