import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { restBesideLoad } from './low-priority.ts';

const workFor = (ms: number) => {
  for (const endsAt = performance.now() + ms; performance.now() < endsAt; );
};

test('with few cores, searches rest nine times as long as they work while the main thread is always busy, and not at all while it is idle', async () => {
  const restMs = restBesideLoad(2);
  workFor(50);
  expect(restMs(10)).toBeCloseTo(90, -1);
  await sleep(200);
  expect(restMs(10)).toBe(0);
});

test('with enough cores, searches never rest', () => {
  const restMs = restBesideLoad(4);
  workFor(50);
  expect(restMs(10)).toBe(0);
});
