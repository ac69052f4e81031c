import { expect, test } from 'vitest';
import { flagTerm, type LaterState } from '#core/search/index-terms.ts';
import { draft, HistoryModel } from '#test/support/history-model.ts';
import { RowSet } from '../../search/row-set.ts';
import { readNewest, tablesOf } from '../log/partitions.ts';
import { stateRows } from './state-rows.ts';

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
  const placesOf = (state: LaterState) => {
    const found = new RowSet(partition);
    expect(states.get(flagTerm(tenant, state))?.(partition, found)).toBe(true);
    return found.last(100, { low: firstRow, high: partition.indexed }).map((row) => row - firstRow);
  };
  // Of each three rows, one is cleared, one clears it, and one is live.
  expect(placesOf('live')).toEqual([32]);
  expect(placesOf('cleared')).toEqual([30, 33]);
  expect(placesOf('acknowledged')).toEqual([30, 31, 32, 33]);
  expect(placesOf('shown')).toEqual([30, 32]);
  model.db.close();
});

test('of a state no more is read than is used, however many reports a row has', () => {
  const model = new HistoryModel();
  model.transaction(() => model.append(draft()));
  model.index();
  model.addReports(1_200_000);
  const { sql, tenant } = model;
  const partition = readNewest(sql);
  let read = 0;
  class Counted extends RowSet {
    override add(): void {
      read += 1;
    }
  }
  const states = stateRows(sql, { tenant, now: 2, range: { low: 1, high: 10 } });
  expect(states.get(flagTerm(tenant, 'shown'))?.(partition, new Counted(partition))).toBe(false);
  expect(read).toBeLessThanOrEqual(500_001);
  model.db.close();
});
