import { expect, it } from 'vitest';
import { draft, HistoryModel } from '#test/support/history-model.ts';
import { live, readLive } from './log-reader.ts';

const panel = { id: '0', tags: [] };

it('keeps no more of what has left the panels than was added lately', () => {
  const model = new HistoryModel();
  const look = (now: number) => live(model, 8, panel, { now, limit: 3 }).positions;
  const count = () => model.db.prepare('SELECT count(*) FROM temp.live_order').pluck().get();
  for (let turn = 0; turn < 5; turn++) {
    model.transaction(() => {
      for (let i = 0; i < 4_000; i++) model.append(draft({ expiresAt: 9 }), 8);
    });
    look(1);
    model.db.exec('DELETE FROM live WHERE row % 4000 > 1');
  }
  // After three turns, 12,000 were added, of which eight had not left and 4,000 had just come.
  expect(count()).toBe(2 * 2 + 4_000 + 2 * 4_000);
  expect(look(1)).toEqual([20_000, 16_001, 16_000].map((position) => ({ rank: 20, position })));
  expect(look(9)).toEqual([]);
  model.db.close();
});

it('goes on after a read on another snapshot, with what was cleared in between and what has come', () => {
  const model = new HistoryModel();
  const options = { now: 1, chars: 1_000 };
  const given = [draft({ rank: 10 }), draft({ rank: 30 }), draft({ rank: 30 })];
  model.transaction(() => model.append(given[0] as (typeof given)[0]));
  const look = () =>
    live(model, model.tenant, panel, { now: 1, limit: 10 }).positions.map(({ position }) => position);
  expect(look()).toEqual([1]);
  model.transaction(() => {
    for (const each of given.slice(1)) model.append(each);
  });
  expect(look()).toEqual([3, 2, 1]);
  model.transaction(() => model.clear(given[1]?.id ?? '', 1));
  expect(look()).toEqual([3, 1]);
  const { notifications, scanned } = readLive(model, model.tenant, [2, 1, 3, 9], options);
  expect([notifications.map(({ position }) => position), scanned]).toEqual([[1, 3], 4]);
  model.db.close();
});

const to = (tags: string[], revision: number) => ({
  ...draft().route,
  target: { all: false, ids: [], tags },
  revision,
});

it('knows the routes of what is live, of each tenant, as they come, and forgets those of what has left', () => {
  const model = new HistoryModel();
  const add = (tenant: number, route: ReturnType<typeof to>, count = 1) =>
    model.transaction(() => {
      for (let i = 0; i < count; i++) model.append(draft({ route, expiresAt: null }), tenant);
    });
  const routesTo = (tenant: number, ...tags: string[]) =>
    model.liveOrder.routesTo(tenant, { id: 'p', tags }).length;
  add(8, to(['noc'], 1));
  add(9, to(['lobby'], 1));
  expect([routesTo(8, 'noc'), routesTo(8, 'lobby'), routesTo(9, 'lobby'), routesTo(7, 'noc')]).toEqual([
    1, 0, 1, 0,
  ]);
  add(8, to(['noc'], 2));
  add(8, to(['noc', 'lobby'], 2));
  add(8, to(['noc'], 2));
  expect([routesTo(8, 'noc'), routesTo(8, 'lobby')]).toEqual([3, 1]);
  model.db.exec('DELETE FROM live');
  add(8, to(['noc'], 3), 10_001);
  expect([routesTo(8, 'noc'), routesTo(8, 'lobby'), routesTo(9, 'lobby')]).toEqual([1, 0, 0]);
  model.db.close();
});

it('keeps targets up to a number of characters, and reads the others again for each panel', () => {
  const kept = to(['noc'], 1);
  const model = new HistoryModel({ targetChars: JSON.stringify(kept.target).length });
  const routesTo = (tag: string) => model.liveOrder.routesTo(model.tenant, { id: 'p', tags: [tag] }).length;
  const add = (...routes: ReturnType<typeof to>[]) =>
    model.transaction(() => {
      for (const route of routes) model.append(draft({ route, expiresAt: null }));
    });
  add(kept, to(['lobby'], 1));
  expect([routesTo('noc'), routesTo('lobby'), routesTo('none')]).toEqual([1, 1, 0]);
  add(to(['noc'], 2), to(['lobby'], 2), to(['noc', 'lobby'], 2));
  expect([routesTo('noc'), routesTo('lobby'), routesTo('none')]).toEqual([3, 3, 0]);
  model.db.exec("UPDATE routes SET route = json_insert(route, '$.target.tags[#]', 'other')");
  // The two that lead to "noc" alone are kept as they were.
  expect([routesTo('noc'), routesTo('lobby'), routesTo('other')]).toEqual([3, 3, 3]);
  model.db.close();
});
