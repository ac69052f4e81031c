import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Receipts } from '#contract/panels/panel.ts';
import { ApiError } from './call.ts';
import { type Receipt, ReceiptOutbox } from './receipt-outbox.ts';

const receipt = (id: string): Receipt => ({ id, state: 'shown', at: 1 });
const idsOf = (batches: Receipts[]) => batches.map((batch) => batch.map(({ id }) => id));

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('receipts are gathered and sent together', async () => {
  const sent: Receipts[] = [];
  const outbox = new ReceiptOutbox({ post: async (batch) => sent.push(batch) });
  outbox.add(receipt('a'));
  outbox.add(receipt('b'));
  expect(sent).toEqual([]);
  await vi.advanceTimersByTimeAsync(300);
  expect(idsOf(sent)).toEqual([['a', 'b']]);
});

test('while the server is away they are kept, and sent when it is back', async () => {
  let away = true;
  const sent: Receipts[] = [];
  const post = async (batch: Receipts) => {
    if (away) throw new ApiError(0, 'no answer');
    sent.push(batch);
  };
  const outbox = new ReceiptOutbox({ post });
  outbox.add(receipt('a'));
  await vi.advanceTimersByTimeAsync(10_000);
  outbox.add(receipt('b'));
  away = false;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(idsOf(sent)).toEqual([['a', 'b']]);
});

test('a batch that the server refuses is not sent again', async () => {
  let calls = 0;
  const post = async () => {
    calls += 1;
    throw new ApiError(400, 'no');
  };
  const outbox = new ReceiptOutbox({ post });
  outbox.add(receipt('a'));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(calls).toBe(1);
});

test('a batch is never larger than one call takes', async () => {
  const sent: Receipts[] = [];
  const outbox = new ReceiptOutbox({ post: async (batch) => sent.push(batch) });
  for (let i = 0; i < 1_500; i++) outbox.add(receipt(String(i)));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sent.map(({ length }) => length)).toEqual([1_000, 500]);
});

test('closing sends what waits, and then no more', async () => {
  const sent: Receipts[] = [];
  const outbox = new ReceiptOutbox({ post: async (batch) => sent.push(batch) });
  outbox.add(receipt('a'));
  await outbox.close();
  outbox.add(receipt('b'));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(idsOf(sent)).toEqual([['a']]);
});
