import { expect, test } from 'vitest';
import { draft, HistoryModel } from '#test/support/history-model.ts';
import { searchPage } from '../search/search.ts';
import { purge } from './maintenance.ts';

test('a purge leaves nothing of what retention does not keep in the file, and all of the rest', async () => {
  const model = new HistoryModel({ sizes: { partitionRows: 40, indexBatchRows: 7 } });
  const name = (i: number) => `n${i}x`;
  model.transaction(() => {
    for (let i = 100; i < 200; i++)
      model.append(draft({ title: name(i), message: name(i), host: name(i), key: name(i), expiresAt: 1 }));
  });
  const find = async () => {
    const options = { limit: 1000, now: 1 };
    return (await searchPage(model, { tenant: model.tenant, query: { kind: 'all' }, options })).records;
  };
  const inFile = () => {
    const bytes = model.db.serialize().toString('latin1');
    return Array.from({ length: 100 }, (_, i) => name(i + 100)).filter((text) => bytes.includes(text));
  };
  // Of some partitions nothing is kept, of one a part; and one still takes rows.
  model.prune(55, 1);
  model.maintain();
  model.restart();
  const kept = await find();
  expect(kept.map(({ host }) => host).reverse()).toEqual(inFile().slice(-kept.length));
  expect(kept.length).toBe(45);
  expect(inFile().length).toBeGreaterThan(45);
  purge(model.db);
  model.sql.forget();
  expect(inFile()).toEqual(kept.map(({ host }) => host).reverse());
  expect(await find()).toEqual(kept);
  model.transaction(() => model.append(draft({ title: 'later' })));
  expect((await find()).length).toBe(46);
  model.db.close();
});
