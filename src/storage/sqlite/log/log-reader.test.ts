import { expect, it } from 'vitest';
import { draft, HistoryModel } from '#test/support/history-model.ts';
import { expired } from './log-reader.ts';

it('looks for expired notifications in ten thousand live ones at a time, and goes on behind them', () => {
  const model = new HistoryModel();
  model.transaction(() => {
    for (let i = 1; i <= 10_020; i++) model.append(draft({ expiresAt: i > 10_010 ? 1 : 9 }), 8);
  });
  const first = expired(model, 5, 0, 4);
  expect(first).toEqual({ expired: [], upTo: 10_000 });
  const second = expired(model, 5, first.upTo ?? 0, 4);
  expect(second.expired).toEqual([10_011, 10_012, 10_013, 10_014]);
  expect(second.upTo).toEqual(second.expired.at(-1));
  const rest = expired(model, 5, second.upTo ?? 0, 100);
  expect(rest.expired.length).toBe(6);
  expect(rest.upTo).toBeUndefined();
  model.db.close();
});
