import { expect, test } from 'vitest';
import { type LostPanelContext, lookAtPanel, noticeScreen } from './lost-panels.ts';
import { type DueTime, type DueTimes, Schedule } from './schedule.ts';

const lostMs = 60_000;

/** One watched panel; time passes only by hand. */
function createLab() {
  const state = {
    at: 10_000_000,
    set: 0,
    isOnline: false,
    writes: 0,
    lastSeenAt: 9_970_000 as number | null,
  };
  const now = () => state.at + state.set;
  let row: DueTime = {
    ...{ tenant: 1, kind: 'panel', subject: 'p', dueAt: now(), version: '0' },
    data: { raised: null },
  };
  const dueTimes = {
    find: async () => row,
    settle: async (due: DueTime, next: Pick<DueTime, 'dueAt' | 'data'>) => {
      if (due.version !== row.version) return false;
      state.writes += 1;
      row = { ...row, ...next, version: String(state.writes) };
      return true;
    },
    shift: async (ms: number) => {
      row = { ...row, dueAt: (row.dueAt ?? 0) + ms };
    },
  } as unknown as DueTimes;
  const titles: string[] = [];
  const schedule = new Schedule({
    ...{ dueTimes, now, monotonicNow: () => state.at, isShared: false, onError: () => undefined },
  });
  const display = { alertWhenLostMs: lostMs };
  const context = {
    ...{ schedule, now, startedAt: 0 },
    panels: { find: async () => ({ id: 'p', name: 'Lobby', display, lastSeenAt: state.lastSeenAt }) },
    presence: { online: async () => ({ panels: new Map(state.isOnline ? [['p', {}]] : []) }) },
    usage: { lastContact: () => undefined },
    intake: {
      findRaised: async () => undefined,
      raise: async (_tenant: number, { fields }: { fields: { title: string } }) => titles.push(fields.title),
    },
  } as unknown as LostPanelContext;
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 1_000) {
      state.at += 1_000;
      await schedule.now();
      if ((row.dueAt ?? 0) <= now()) await lookAtPanel(context, row);
    }
  };
  return { state, titles, pass, connect: () => noticeScreen(schedule, 1, 'p') };
}

test('a panel that is lost costs nothing until a screen connects, which is noticed soon', async () => {
  const { state, titles, pass, connect } = createLab();
  await pass(60_000);
  expect(titles).toEqual(['Panel Lobby is offline']);
  const { writes } = state;
  await pass(3_000_000);
  expect(state.writes - writes).toBeLessThanOrEqual(1);
  state.isOnline = true;
  await connect();
  await pass(5_000);
  expect(titles).toEqual(['Panel Lobby is offline', 'Panel Lobby is back']);
});

test('a panel that no screen has ever been connected to is not lost', async () => {
  const { state, titles, pass } = createLab();
  state.lastSeenAt = null;
  await pass(5 * lostMs);
  expect(titles).toEqual([]);
  state.lastSeenAt = state.at;
  await pass(2 * lostMs);
  expect(titles).toEqual(['Panel Lobby is offline']);
});

test('a clock that is set forward makes no panel lost', async () => {
  const { state, titles, pass } = createLab();
  await pass(10_000);
  state.set = 2 * 3_600_000;
  await pass(50_000);
  expect(titles).toEqual([]);
  await pass(20_000);
  expect(titles).toEqual(['Panel Lobby is offline']);
});
