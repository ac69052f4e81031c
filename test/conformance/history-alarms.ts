import { uuidv7 } from 'uuidv7';
import { expect, test } from 'vitest';
import type { AlarmPlace, AlarmsWanted } from '#core/log/alarm-places.ts';
import type { AlarmAction, AlarmOutcome, Entry, History } from '#core/log/log.ts';
import type { TenantId } from '#core/log/route.ts';
import type { SearchState } from '#core/search/search-query.ts';
import { routeTo } from '#test/support/notification-draft.ts';
import {
  alarmsAt,
  draft,
  everyone,
  type HistoryLab,
  now,
  readAll,
  shownOn,
  store,
  stored,
  toTarget,
} from './history-lab.ts';

/** Of an alarm that is on its panels, and nobody's. */
const nothing = { shelved: null, suppressed: null, owner: null };
const hour = 3_600_000;
const key = 'disk';
const shelve = (over: Partial<Extract<AlarmAction, { kind: 'shelve' }>> = {}): AlarmAction => ({
  ...{ kind: 'shelve', at: now + 10, by: 'Ada', note: 'spare part comes', until: now + hour },
  ...over,
});
const acknowledge = (over: Partial<Extract<AlarmAction, { kind: 'acknowledge' }>> = {}): AlarmAction => ({
  ...{ kind: 'acknowledge', at: now + 5, by: 'Ada', note: null },
  ...over,
});

async function actOn(history: History, tenant: TenantId, id: string, action: AlarmAction) {
  const [outcome] = await history.act(tenant, [id], action);
  return outcome as AlarmOutcome;
}

/** The entry of an outcome that must be `done`. */
function entryOf(outcome: AlarmOutcome): Entry {
  if (outcome.kind !== 'done') throw new Error(`not done but ${outcome.kind}`);
  return outcome.entry;
}

const alarmOf = async (history: History, tenant: TenantId, id: string) =>
  (await history.find(tenant, id))?.alarm;

/** What stands, what remembers it, and what people do about it. */
export function alarmsConformance(lab: () => HistoryLab): void {
  test('an alarm remembers when it began, how many came and the highest level', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const first = await store(history, tenant, { key, rank: 50, level: 'critical' });
    expect(await alarmOf(history, tenant, first.id)).toEqual({
      ...{ since: now, count: 1, highestLevel: 'critical', highestRank: 50, ...nothing },
    });
    await store(history, tenant, { key, rank: 30, level: 'warning', receivedAt: now + 1_000 });
    const third = await store(history, tenant, { key, rank: 40, level: 'error', receivedAt: now + 2_000 });
    await store(history, tenant, { key: 'other', throttledOn: third.id, throttleCount: 1 });
    const alarm = { since: now, count: 4, highestLevel: 'critical', highestRank: 50, ...nothing };
    expect(await alarmOf(history, tenant, third.id)).toEqual(alarm);
    expect(await alarmOf(history, tenant, first.id)).toBeNull();
    const fourth = await store(history, tenant, { key, rank: 40, level: 'error', receivedAt: now + 3_000 });
    expect(await alarmOf(history, tenant, fourth.id)).toEqual({ ...alarm, count: 5 });
    const higher = await store(history, tenant, { key, rank: 60, level: 'worst', receivedAt: now + 4_000 });
    expect(await alarmOf(history, tenant, higher.id)).toMatchObject({ count: 6, highestLevel: 'worst' });
  });

  test('what says that something went well is no alarm, with a key or without', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const well = { rank: 10, level: 'success' };
    const done = await store(history, tenant, well);
    await store(history, tenant, { key: 'disk', ...well });
    const told = await store(history, tenant, { rank: 20, level: 'info' });
    expect(await alarmsAt(history, tenant, now)).toMatchObject([{ position: told.position }]);
    expect(await shownOn(history, tenant)).toContain(done.id);
  });

  test('a resolve, a clear and a muted notification end an alarm: the next one is new', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const isNew = async (at: number) => {
      const { id } = await store(history, tenant, { key, rank: 40, receivedAt: now + at });
      expect(await alarmOf(history, tenant, id)).toMatchObject({ since: now + at, count: 1 });
      return id;
    };
    await isNew(0);
    await store(history, tenant, { key, rank: 10, level: 'success' });
    expect(await alarmsAt(history, tenant, now)).toEqual([]);
    const second = await isNew(1);
    await history.clear(tenant, second, 'x', now + 2);
    await isNew(3);
    await store(history, tenant, { key, rank: 40, route: { ...routeTo(everyone), muted: true } });
    await isNew(4);
  });

  test('alarms are listed by rank, then the newest first, with their state', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const at = (receivedAt: number, rank: number, over = {}) =>
      store(history, tenant, { receivedAt: now + receivedAt, rank, ...over });
    const old = await at(0, 40, { key });
    const critical = await at(1, 50);
    const newer = await at(2, 40);
    const short = await at(3, 30, { ttl: 5_000, expiresAt: now + 5_000 });
    const again = await at(4, 40, { key });
    await at(5, 40, { route: routeTo(toTarget({})) });
    await actOn(history, tenant, newer.id, acknowledge());
    await actOn(history, tenant, critical.id, shelve());
    const place = ({ position, id, rank }: typeof old, since: number, state: string) => ({
      ...{ position, id, rank, since: now + since, state },
    });
    const places = [
      place(critical, 1, 'shelved'),
      place(newer, 2, 'acknowledged'),
      place(again, 0, 'open'),
      place(short, 3, 'open'),
    ];
    expect(await alarmsAt(history, tenant, now + 20)).toEqual(places);
    expect(await alarmsAt(history, tenant, now + 5_000)).toEqual(places.slice(0, 3));
    const records = await history.recordsAt(tenant, [again.position, 999, critical.position]);
    expect(records.map(({ id }) => id)).toEqual([again.id, critical.id]);
    const titles = await history.titles(tenant, [again.id, uuidv7(), old.id]);
    expect(titles).toEqual(new Map([again, old].map(({ id, title }) => [id, title])));
  });

  test('alarms are read in pages, in the wanted states and among the wanted ones; counts are of all', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const sent = [];
    for (let i = 0; i < 6; i++)
      sent.push(await store(history, tenant, { receivedAt: now + (i % 3), rank: i < 2 ? 50 : 40 }));
    const [taken, , shelved] = sent as [(typeof sent)[0], (typeof sent)[0], (typeof sent)[0]];
    await actOn(history, tenant, taken.id, acknowledge());
    await actOn(history, tenant, shelved.id, shelve());
    const page = (over: Partial<AlarmsWanted> = {}) =>
      history.alarms(tenant, { now: now + 20, states: ['open'], limit: 2, ...over });
    const counts = { open: 4, acknowledged: 1, shelved: 1, suppressed: 0 };
    const all = (await alarmsAt(history, tenant, now + 20)).filter(({ state }) => state === 'open');
    const places: AlarmPlace[] = [];
    for (let after: AlarmPlace | undefined; ; after = places.at(-1)) {
      const found = await page(after && { after });
      expect(found.counts).toEqual(counts);
      if (found.places.length === 0) break;
      places.push(...found.places);
    }
    expect(places).toEqual(all);
    const among = [taken.position, ...all.slice(1, 3).map(({ position }) => position), 999];
    expect(await page({ among, states: ['open', 'acknowledged'], limit: 9 })).toEqual({
      places: [expect.objectContaining({ id: taken.id, state: 'acknowledged' }), ...all.slice(1, 3)].sort(
        (a, b) => b.rank - a.rank || b.since - a.since,
      ),
      counts: { open: 2, acknowledged: 1, shelved: 0, suppressed: 0 },
    });
    const nothing = { places: [], counts: { open: 0, acknowledged: 0, shelved: 0, suppressed: 0 } };
    expect(await page({ among: [] })).toEqual(nothing);
    const other = await newTenant();
    expect(await history.alarms(other, { now, states: ['open'], limit: 2 })).toEqual(nothing);
  });

  test('an acknowledgement can be changed by its owner, taken over, and taken back', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const { id, route } = await store(history, tenant, { key, rank: 40 });
    const until = now + hour;
    expect(entryOf(await actOn(history, tenant, id, acknowledge({ until })))).toEqual({
      ...{ kind: 'acknowledgement', position: 2, id, at: now + 5, by: 'Ada', note: null, until, route },
    });
    const acknowledged = { at: now + 5, by: 'Ada', note: null, until };
    expect((await history.find(tenant, id))?.acknowledged).toEqual(acknowledged);
    for (const over of [{}, { over: 'own' as const }])
      expect(await actOn(history, tenant, id, acknowledge({ by: 'Bob', ...over }))).toEqual({
        ...{ kind: 'already', id, acknowledged },
      });
    const own = acknowledge({ note: 'on my way', over: 'own', at: now + 6 });
    expect(entryOf(await actOn(history, tenant, id, own))).toMatchObject({ position: 3, note: 'on my way' });
    expect((await history.find(tenant, id))?.acknowledged).toEqual({
      at: now + 6,
      by: 'Ada',
      note: 'on my way',
    });
    await actOn(history, tenant, id, acknowledge({ by: 'Bob', over: 'any' }));
    expect((await history.find(tenant, id))?.acknowledged).toMatchObject({ by: 'Bob' });
    const back = entryOf(await actOn(history, tenant, id, { kind: 'unacknowledge', at: now + 7, by: 'Eve' }));
    const given = { kind: 'return', from: 'acknowledged', at: now + 7, by: 'Eve', shown: null };
    expect(back).toEqual({ ...given, position: 5, id, route });
    expect((await history.find(tenant, id))?.acknowledged).toBeNull();
    expect(await actOn(history, tenant, id, { kind: 'unacknowledge', at: now, by: 'Eve' })).toEqual({
      ...{ kind: 'nothing', id },
    });
    expect((await readAll(history, tenant)).at(-1)).toEqual(back);
    const entries = await history.entriesOf(tenant, [id], 3);
    expect(entries.map(({ position }) => position)).toEqual([3, 4, 5]);
  });

  test('an acknowledgement without a time has that of its rule, else of its level, each alarm its own', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history, directory } = database;
    await directory.levels.put(tenant, 'error', { acknowledgeForMs: hour }, 'x', 1);
    const named = (acknowledgeForMs: number) => ({
      level: 'error',
      route: { ...draft().route, acknowledgeForMs },
    });
    const ofLevel = await store(history, tenant, { level: 'error', key });
    const ofRule = await store(history, tenant, named(2 * hour));
    const endless = await store(history, tenant, named(0));
    const other = await store(history, tenant, { level: 'info' });
    const ended = await store(history, tenant, { level: 'error', receivedAt: now - 10, expiresAt: now - 5 });
    const ids = [ofLevel, ofRule, endless, other, ended].map(({ id }) => id);
    const at = now + 5;
    const done = await history.act(tenant, ids, acknowledge({ at }));
    const untils = [at + hour, at + 2 * hour, undefined, undefined, undefined];
    expect(done.map((outcome) => entryOf(outcome))).toEqual(
      untils.map((until) => expect.objectContaining({ kind: 'acknowledgement', ...(until && { until }) })),
    );
    for (const [i, id] of ids.entries())
      expect((await history.find(tenant, id))?.acknowledged?.until).toBe(untils[i]);
    const due = (await history.dueReturns(at + 2 * hour, 99)).filter((each) => each.tenant === tenant);
    expect(due.map(({ id }) => id)).toEqual([ofLevel.id, ofRule.id]);
    expect((await readAll(history, tenant)).at(-5)).toEqual(entryOf(done[0] as AlarmOutcome));
    // A repeat keeps the end; who acknowledges it again starts anew, and may name another time or none.
    const repeat = draft({ level: 'error', key, receivedAt: now + 10 });
    await history.append(tenant, repeat, null);
    expect((await history.find(tenant, repeat.id))?.acknowledged?.until).toBe(at + hour);
    for (const [given, until] of [
      [{}, now + 20 + hour],
      [{ until: now + 30 }, now + 30],
      [{ until: null }, undefined],
    ] as const) {
      await actOn(history, tenant, repeat.id, acknowledge({ at: now + 20, over: 'own', ...given }));
      expect((await history.find(tenant, repeat.id))?.acknowledged?.until).toBe(until);
    }
  });

  test('a shelved alarm is on no panel, and comes back open and whole', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const alarm = await store(history, tenant, { key, rank: 40 });
    const { id, route } = alarm;
    await actOn(history, tenant, id, acknowledge());
    const given = { at: now + 10, by: 'Ada', note: 'spare part comes', until: now + hour };
    const entry = entryOf(await actOn(history, tenant, id, shelve()));
    expect(entry).toEqual({ kind: 'shelving', position: 3, id, ...given, route });
    expect(await shownOn(history, tenant, { id: 'x', tags: [] })).toEqual([]);
    expect((await history.readLive(tenant, [1], now, 1_000)).notifications).toEqual([]);
    expect(await history.find(tenant, id)).toMatchObject({
      ...{ acknowledged: null, cleared: null, alarm: { shelved: given } },
    });
    // Nobody takes care of what is put aside.
    expect(await actOn(history, tenant, id, acknowledge())).toEqual({ kind: 'nothing', id, off: 'shelved' });
    const counted = await store(history, tenant, { key, throttledOn: id, throttleCount: 1 });
    const back = entryOf(await actOn(history, tenant, id, { kind: 'unshelve', at: now + 20, by: 'Eve' }));
    const shown = { ...alarm, count: 1 };
    const returned = { kind: 'return', from: 'shelved', at: now + 20, by: 'Eve', shown };
    expect(back).toEqual({ ...returned, position: 5, id, route });
    expect(await shownOn(history, tenant, { id: 'x', tags: [] })).toEqual([id]);
    expect(await alarmOf(history, tenant, id)).toMatchObject({ shelved: null });
    expect(await readAll(history, tenant)).toMatchObject([alarm, {}, entry, counted, back]);
    expect(await actOn(history, tenant, id, { kind: 'unshelve', at: now, by: 'Eve' })).toEqual({
      ...{ kind: 'nothing', id },
    });
  });

  test('a repeat of a shelved alarm stays on the shelf, unless its level is higher than when it was shelved', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const first = await store(history, tenant, { key, rank: 40 });
    await actOn(history, tenant, first.id, shelve());
    const repeat = draft({ key, rank: 30, receivedAt: now + 20 });
    const entries = stored(await history.append(tenant, repeat, null));
    expect(entries).toMatchObject([{ kind: 'clear' }, { kind: 'notification', route: { shelved: true } }]);
    expect((await readAll(history, tenant)).at(-1)).toEqual(entries.at(-1));
    expect(await alarmOf(history, tenant, repeat.id)).toMatchObject({ count: 2, shelved: { by: 'Ada' } });
    const again = await store(history, tenant, { key, rank: 40, receivedAt: now + 30 });
    expect(again.route.shelved).toBe(true);
    expect(await shownOn(history, tenant, { id: 'x', tags: [] })).toEqual([]);
    const worse = await store(history, tenant, { key, rank: 50, receivedAt: now + 40 });
    expect(worse.route.shelved).toBeUndefined();
    expect(await shownOn(history, tenant, { id: 'x', tags: [] })).toEqual([worse.id]);
    expect(await alarmOf(history, tenant, worse.id)).toMatchObject({ since: now, count: 4, shelved: null });
  });

  test('what is acknowledged or shelved until a time is due then, also after a repeat', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const until = now + hour;
    const one = await store(history, tenant, { key, rank: 40 });
    const two = await store(history, tenant, { rank: 40 });
    const three = await store(history, tenant, { rank: 40 });
    await actOn(history, tenant, one.id, acknowledge({ until: until + 1 }));
    await actOn(history, tenant, two.id, shelve({ until }));
    await actOn(history, tenant, three.id, acknowledge());
    const repeat = draft({ key, rank: 40 });
    await history.append(tenant, repeat, null);
    const due = async (at: number) =>
      (await history.dueReturns(at, 100)).filter((each) => each.tenant === tenant);
    expect(await due(until - 1)).toEqual([]);
    expect(await due(until + 1)).toEqual([
      { tenant, id: two.id, kind: 'unshelve' },
      { tenant, id: repeat.id, kind: 'unacknowledge' },
    ]);
    await actOn(history, tenant, two.id, { kind: 'unshelve', at: until, by: 'belfry' });
    await actOn(history, tenant, repeat.id, { kind: 'unacknowledge', at: until, by: 'belfry' });
    expect(await due(until + 1)).toEqual([]);
  });

  test('any notification of an alarm names it, but none of an earlier alarm of the same key', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const before = await store(history, tenant, { key, rank: 40 });
    const replaced = await store(history, tenant, { key, rank: 40, receivedAt: now + 1 });
    await history.clear(tenant, replaced.id, 'x', now + 2);
    const first = await store(history, tenant, { key, rank: 40, receivedAt: now + 3 });
    const last = await store(history, tenant, { key, rank: 40, receivedAt: now + 4 });
    expect(await actOn(history, tenant, first.id.toUpperCase(), acknowledge())).toMatchObject({
      id: last.id,
    });
    const clear: AlarmAction = { kind: 'clear', at: now + 5, by: 'Ada', note: 'done' };
    expect(await actOn(history, tenant, before.id, clear)).toMatchObject({ kind: 'nothing' });
    const entry = entryOf(await actOn(history, tenant, first.id, clear));
    expect(entry).toMatchObject({ kind: 'clear', id: last.id, reason: 'cleared', by: 'Ada', note: 'done' });
    expect((await readAll(history, tenant)).at(-1)).toEqual(entry);
    expect(await history.entriesOf(tenant, [last.id], 10)).toMatchObject([
      { kind: 'acknowledgement' },
      entry,
    ]);
    expect(await actOn(history, tenant, last.id, clear)).toMatchObject({ kind: 'nothing' });
  });

  test('many are changed in one call, and each is answered', async () => {
    const { database, newTenant } = lab();
    const [tenant, other] = [await newTenant(), await newTenant()];
    const { history } = database;
    const ids: string[] = [];
    for (let i = 0; i < 300; i++) ids.push(draft().id);
    await Promise.all(ids.map((id) => store(history, tenant, { id, rank: 40 })));
    const foreign = await store(history, other, { rank: 40 });
    const outcomes = await history.act(tenant, [...ids, foreign.id, 'none'], acknowledge());
    expect(outcomes.map(({ kind }) => kind)).toEqual([...ids.map(() => 'done'), 'not-found', 'not-found']);
    const positions = outcomes.flatMap((each) => (each.kind === 'done' ? each.entry.position : []));
    expect(positions).toEqual(ids.map((_, i) => 301 + i));
    expect((await history.find(other, foreign.id))?.acknowledged).toBeNull();
    expect(await history.entriesOf(other, ids, 10)).toEqual([]);
  });

  test('a screen acts only on what reaches it', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const route = routeTo(toTarget({ tags: ['noc'] }));
    const { id } = await store(history, tenant, { rank: 40, route });
    const within = (tags: string[]) => history.act(tenant, [id], acknowledge(), { id: 'p', tags });
    expect(await within(['lobby'])).toEqual([{ kind: 'not-found' }]);
    expect(await within(['noc'])).toMatchObject([{ kind: 'done' }]);
  });

  test('a search finds what is shelved, and what is live without that', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const kept = await store(history, tenant, { rank: 40 });
    const aside = await store(history, tenant, { rank: 40 });
    const over = await store(history, tenant, { rank: 40, expiresAt: now + 20, ttl: 20 });
    for (const { id } of [aside, over]) await actOn(history, tenant, id, shelve());
    const search = async (...states: SearchState[]) => {
      const page = await history.search(tenant, { kind: 'is', states }, { limit: 10, now: now + 30 });
      return page.records.map(({ id }) => id);
    };
    expect(await search('live')).toEqual([kept.id]);
    expect(await search('shelved')).toEqual([aside.id]);
    expect(await search('expired')).toEqual([over.id]);
    expect(await search('live', 'shelved')).toEqual([aside.id, kept.id]);
  });

  test('retention forgets what was done about what it drops', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const { id } = await store(history, tenant, { rank: 40 });
    await actOn(history, tenant, id, acknowledge());
    await store(history, tenant, { rank: 40, receivedAt: now + hour });
    while ((await history.prune(tenant, { olderThan: null, keep: 1 }, now + hour)) > 0);
    expect(await history.entriesOf(tenant, [id], 10)).toEqual([]);
    expect(await history.act(tenant, [id], acknowledge())).toEqual([{ kind: 'not-found' }]);
  });
}
