import { expect, test } from 'vitest';
import { contactOf } from './contact.ts';

const line = { connection: { state: 'online' }, heartbeatMs: 15_000, lastHeardAt: 1_000 } as const;

test('a screen is stale when two and a half heartbeats have not come', () => {
  expect(contactOf(line, 38_499)).toEqual({ state: 'fresh', silentMs: 37_499 });
  expect(contactOf(line, 38_500)).toEqual({ state: 'stale', silentMs: 37_500 });
});

test('a screen that never heard anything has nothing to be stale', () => {
  expect(contactOf({ ...line, lastHeardAt: undefined }, 1e9).state).toBe('never');
});
