import { expect, it } from 'vitest';
import { PayloadWork } from './payload.ts';

it('each whole 64 KiB costs a token, and nothing when the payload is sent again for the rest', () => {
  const work = new PayloadWork(0);
  work.add(64 * 1024 - 1);
  expect(work.extraTokens).toBe(0);
  work.add(64 * 1024);
  expect(work.extraTokens).toBe(1);
  work.forgive();
  expect(work.extraTokens).toBe(0);
});
