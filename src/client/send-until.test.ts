import { expect, test } from 'vitest';
import { ApiError } from './api-error.ts';
import { sendUntil } from './send-until.ts';

const outgoing = { notification: { title: 'Backup', message: 'done' }, idempotencyKey: 'a' };

test.each([0, 408, 429, 503])('after a %i it is sent again with the same key', async (status) => {
  const keys: (string | undefined)[] = [];
  const send = async (_: unknown, { idempotencyKey }: { idempotencyKey?: string } = {}) => {
    if (keys.push(idempotencyKey) === 1) throw new ApiError(status, 'not now');
    return { ok: true as const, id: 'stored' };
  };
  expect(await sendUntil({ send }, outgoing, performance.now() + 60_000)).toEqual({ ok: true, id: 'stored' });
  expect(keys).toEqual(['a', 'a']);
});

test('what the server refuses for good is not sent again', async () => {
  const send = () => Promise.reject(new ApiError(400, 'title is required'));
  await expect(sendUntil({ send }, outgoing, performance.now() + 60_000)).rejects.toThrow('title');
});
