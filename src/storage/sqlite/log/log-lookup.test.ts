import { expect, it } from 'vitest';
import { draft, HistoryModel } from '#test/support/history-model.ts';

it('finds what came earlier in the first transaction of a tenant', () => {
  const model = new HistoryModel();
  const first = draft();
  model.transaction(() => {
    model.append(first, 8);
    model.append(draft({ throttledOn: first.id }), 8);
  });
  expect(model.db.prepare('SELECT row, counted FROM state_1').all()).toEqual([{ row: 1, counted: 1 }]);
  model.db.close();
});
