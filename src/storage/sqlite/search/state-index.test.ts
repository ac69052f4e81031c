import { expect, test } from 'vitest';
import { flagTerm, type LaterState } from '#core/search/index-terms.ts';
import { draft, HistoryModel } from '#test/support/history-model.ts';
import { readNewest, tablesOf } from '../log/partitions.ts';
import { stateRows } from './state-index.ts';

test('reads no more of a state than the range that is searched', () => {
  const model = new HistoryModel();
  const { sql, tenant } = model;
  for (let i = 0; i < 40; i++) {
    const given = draft();
    model.transaction(() => model.append(given));
    if (i % 2 === 0) model.transaction(() => model.clear(given.id, 1));
  }
  model.index();
  const partition = readNewest(sql);
  const { firstRow } = partition;
  const acknowledge = sql.of("INSERT INTO acknowledgements (tenant, row, at, by) VALUES (?, ?, 1, '')");
  for (let i = 0; i < 40; i++) acknowledge.run(tenant, firstRow + i);
  const receipt = `INSERT INTO ${tablesOf(partition).receipts} (row, panel_id, shown_at) VALUES (?, 'a', ?)`;
  for (let i = 0; i < 40; i++) sql.of(receipt).run(firstRow + i, i % 2 === 0 ? 1 : null);
  const states = stateRows(sql, { tenant, now: 2, range: { low: firstRow + 30, high: firstRow + 33 } });
  const placesOf = (state: LaterState) =>
    (states.get(flagTerm(tenant, state))?.(partition) ?? []).map((row) => row - firstRow);
  // Of each three rows, one is cleared, one clears it, and one is live.
  expect(placesOf('live')).toEqual([32]);
  expect(placesOf('cleared')).toEqual([30, 33]);
  expect(placesOf('acknowledged')).toEqual([30, 31, 32, 33]);
  expect(placesOf('shown')).toEqual([30, 32]);
  model.db.close();
});
