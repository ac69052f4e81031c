import { expect, it } from 'vitest';
import { draft, HistoryModel } from '#test/support/history-model.ts';
import { minuteCounts } from './overview.ts';

const minuteMs = 60_000;
const start = 1_000 * minuteMs;

const counted = (model: HistoryModel) =>
  minuteCounts(model, model.tenant, 0).reduce((sum, { count }) => sum + count, 0);

it('counts what retention keeps, also beside another tenant, and after its partition was written anew', () => {
  const model = new HistoryModel({ sizes: { partitionRows: 40, indexBatchRows: 7 } });
  model.transaction(() => {
    for (let i = 0; i < 50; i++) {
      model.append(draft({ receivedAt: start + i * minuteMs }));
      model.append(draft({ receivedAt: start + i * minuteMs }), 8);
    }
  });
  model.index();
  model.prune(26, start);
  expect(counted(model)).toBe(24);
  // Of the other tenant nothing is kept of the first partition: the row behind the last dropped one is in no table any more.
  model.db.exec('UPDATE logs SET first = 40 WHERE tenant = 8');
  model.maintain(undefined, 0);
  model.restart();
  expect(counted(model)).toBe(24);
  model.db.close();
});

it('counts a level that is named by digits under its name, also where its text stands in the row itself', () => {
  const model = new HistoryModel();
  model.transaction(() => {
    model.append(draft({ host: 'first', key: 'second', ip: '10.0.0.1' }));
    model.append(draft({ level: 'error' }));
  });
  const ids = model.db.prepare('SELECT id FROM dictionary_1_0').pluck().all();
  const level = String(ids[0]);
  model.db.prepare('UPDATE log_1_0 SET level = ? WHERE position = 2').run(level);
  expect(minuteCounts(model, model.tenant, 0).map((each) => each.level)).toEqual([level, 'info'].sort());
  model.db.close();
});
