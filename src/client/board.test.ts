import { beforeEach, describe, expect, test } from 'vitest';
import { iso, note, notification, ready, readyData, start } from '#test/support/panel-events.ts';
import { Board } from './board.ts';
import type { PanelEvent } from './panel-events.ts';

let board: Board;
const ids = () => board.cards().map(({ notification }) => notification.id);
beforeEach(() => {
  board = new Board();
  board.apply(ready(), start);
});

test('the highest in rank stands first, then the newest', () => {
  for (const [position, rank] of [
    [1, 20],
    [2, 50],
    [3, 20],
    [4, 30],
    [5, 50],
  ] as const)
    board.apply(note(position, { rank }), start);
  expect(ids()).toEqual(['n5', 'n2', 'n4', 'n3', 'n1']);
});

test('a notification is new once, however often it comes', () => {
  expect(board.apply(note(1), start)).toMatchObject([
    { kind: 'added', card: { notification: { id: 'n1' } } },
  ]);
  expect(board.apply(note(1), start)).toEqual([]);
});

test('clearing and replacing take a card off, and tell which', () => {
  board.apply(note(1), start);
  board.apply(note(2), start);
  expect(
    board.apply({ type: 'clear', data: { id: 'n1', position: 3, reason: 'replaced', by: 'n2' } }, start),
  ).toMatchObject([{ kind: 'replaced', card: { notification: { id: 'n1' } } }]);
  expect(
    board.apply({ type: 'clear', data: { id: 'n1', position: 3, reason: 'cleared', by: 'x' } }, start),
  ).toEqual([]);
  expect(ids()).toEqual(['n2']);
});

test('a card is shown for the time that was left of it, whatever clocks say', () => {
  const ours = start + 3_600_000;
  board.apply(ready(), ours);
  board.apply(note(1, { remainingMs: 1_000, expiresAt: iso(start + 31_536_000_000) }), ours);
  board.apply(note(2), ours);
  board.apply({ type: 'heartbeat', data: { serverTime: iso(start + 60_000), head: 2 } }, ours);
  expect(board.serverTime(ours)).toBe(start + 60_000);
  expect(board.expire(ours + 999)).toEqual([]);
  expect(board.expire(ours + 1_000)).toMatchObject([
    { kind: 'expired', card: { notification: { id: 'n1' } } },
  ]);
  expect(ids()).toEqual(['n2']);
});

test('a resumed stream keeps what is shown, every other beginning drops it', () => {
  board.apply(note(1), start);
  expect(board.apply(ready({ resume: 'replayed' }), start)).toEqual([]);
  expect(ids()).toEqual(['n1']);
  for (const resume of ['live', 'gap', 'reset'] as const) {
    board.apply(note(1), start);
    expect(board.apply(ready({ resume }), start)).toMatchObject([{ kind: 'dropped' }]);
    expect(ids()).toEqual([]);
  }
  for (const type of ['gap', 'reset'] as const) {
    board.apply(note(1), start);
    expect(board.apply({ type, data: { reason: 'r', head: 1 } }, start)).toMatchObject([{ kind: 'dropped' }]);
  }
});

test('until the live set has come whole, an empty board says nothing', () => {
  const heartbeat: PanelEvent = { type: 'heartbeat', data: { serverTime: iso(start), head: 0 } };
  for (const event of [ready(), { type: 'gap', data: { reason: 'r', head: 1 } } as const]) {
    board.apply(event, start);
    expect(board.isFilling).toBe(true);
    board.apply(heartbeat, start);
    expect(board.isFilling).toBe(false);
  }
  board.apply(ready({ resume: 'replayed' }), start);
  expect(board.isFilling).toBe(false);
});

test('what a throttle counts is added to its card, and never goes back', () => {
  board.apply(note(1, { count: 2 }), start);
  const counted = (count: number): PanelEvent => ({
    type: 'throttled',
    data: { id: 'n1', position: 9, count, receivedAt: iso(start) },
  });
  expect(board.apply(counted(3), start)).toMatchObject([{ kind: 'counted', card: { count: 3 } }]);
  expect(board.apply(counted(2), start)).toEqual([]);
  expect(board.cards()[0]?.count).toBe(3);
});

test('an acknowledgement that is taken back leaves the card as it was', () => {
  board.apply(note(1), start);
  const by = { at: iso(start), by: 'Ada' };
  const given = { ...by, note: 'on my way', until: iso(start + 60_000) };
  const acknowledge: PanelEvent = { type: 'acknowledge', data: { id: 'n1', position: 2, ...given } };
  const back: PanelEvent = { type: 'unacknowledge', data: { id: 'n1', position: 3, ...by } };
  board.apply(acknowledge, start);
  expect(board.cards()[0]?.notification.acknowledged).toEqual(given);
  expect(board.apply(back, start)).toMatchObject([
    { kind: 'unacknowledged', card: { notification: { id: 'n1', acknowledged: null } } },
  ]);
  expect(board.apply({ ...back, data: { ...back.data, id: 'n9' } }, start)).toEqual([]);
});

test('the shelf takes a card off, and it comes back with the time that is left', () => {
  const [by, id] = [{ at: iso(start), by: 'Ada' }, 'n1'];
  board.apply(note(1, { remainingMs: 10_000, expiresAt: iso(start + 10_000) }), start);
  const shelve: PanelEvent = {
    type: 'shelve',
    data: { id, position: 2, ...by, note: null, until: iso(start + 60_000) },
  };
  expect(board.apply(shelve, start)).toMatchObject([{ kind: 'shelved', card: { notification: { id } } }]);
  expect(board.apply(shelve, start)).toEqual([]);
  expect(ids()).toEqual([]);
  const back = notification(1, { remainingMs: 6_000, expiresAt: iso(start + 10_000) });
  const unshelve: PanelEvent = { type: 'unshelve', data: { id, position: 3, ...by, notification: back } };
  expect(board.apply(unshelve, start + 4_000)).toMatchObject([
    { kind: 'added', card: { endsAt: start + 10_000 } },
  ]);
  expect(board.apply(unshelve, start + 4_000)).toEqual([]);
  expect(ids()).toEqual([id]);
});

const settings = (minLevel?: string): PanelEvent => {
  const { panel, tenant, levels } = readyData();
  return {
    type: 'settings',
    data: { panel: { ...panel, display: minLevel ? { minLevel } : {} }, tenant, levels },
  };
};

test('a suppressed alarm is off, and it is back when its cause has ended', () => {
  const [by, id] = [{ at: iso(start), by: 'n9' }, 'n1'];
  board.apply(note(1), start);
  const suppress: PanelEvent = { type: 'suppress', data: { id, position: 2, ...by } };
  expect(board.apply(suppress, start)).toMatchObject([
    { kind: 'suppressed', card: { notification: { id } } },
  ]);
  expect(ids()).toEqual([]);
  const data = { id, position: 3, ...by, notification: notification(1) };
  expect(board.apply({ type: 'unsuppress', data }, start)).toMatchObject([{ kind: 'added' }]);
  expect(ids()).toEqual([id]);
});

describe('what an alarm suppresses', () => {
  const alarms = [{ id: 'n5', level: 'error', title: 'Host unreachable', host: 'ap-1' }];
  const suppresses = (id: string, count: number): PanelEvent => ({
    type: 'suppresses',
    data: { id, count, alarms: count > 0 ? alarms : [] },
  });
  const counts = () => board.cards().map((card) => card.suppresses?.count);

  test('is on its card, whether it comes before or after the notification', () => {
    expect(board.apply(suppresses('n1', 40), start)).toEqual([]);
    expect(board.apply(note(1), start)).toMatchObject([
      { kind: 'added', card: { suppresses: { count: 40, alarms } } },
    ]);
    expect(board.apply(suppresses('n1', 41), start)).toMatchObject([
      { kind: 'followed', card: { notification: { id: 'n1' }, suppresses: { count: 41 } } },
    ]);
    const acknowledge = { id: 'n1', position: 2, at: iso(start), by: 'Ada', note: null, until: null };
    board.apply({ type: 'acknowledge', data: acknowledge }, start);
    expect(counts()).toEqual([41]);
    expect(board.apply(suppresses('n1', 0), start)).toMatchObject([
      { kind: 'followed', card: { suppresses: undefined } },
    ]);
    expect(board.apply(suppresses('n1', 0), start)).toEqual([]);
  });

  test('comes anew with each connection, and stays when only the live set comes again', () => {
    board.apply(note(1), start);
    board.apply(suppresses('n1', 41), start);
    board.apply({ type: 'reset', data: { reason: 'r', head: 1 } }, start);
    board.apply(note(1), start);
    expect(counts()).toEqual([41]);
    expect(board.apply(ready({ resume: 'replayed' }), start)).toEqual([]);
    expect(counts()).toEqual([undefined]);
    expect(board.apply(suppresses('n1', 41), start)).toMatchObject([{ kind: 'followed' }]);
  });

  test('is no change of a card that the settings hide', () => {
    board.apply(settings('warning'), start);
    board.apply(note(1), start);
    expect(board.apply(suppresses('n1', 41), start)).toEqual([]);
  });

  test('is forgotten for the first ones when it comes for too many', () => {
    for (let n = 0; n <= 500; n++) board.apply(suppresses(`n${n}`, 1), start);
    for (const n of [0, 1, 500]) board.apply(note(n), start);
    expect(counts()).toEqual([1, 1, undefined]);
  });
});

test('settings decide from which level on cards are shown', () => {
  board.apply(note(1, { rank: 20 }), start);
  board.apply(note(2, { rank: 30, level: 'warning' }), start);
  expect(board.apply(settings('warning'), start)).toMatchObject([
    { kind: 'dropped', card: { notification: { id: 'n1' } } },
  ]);
  expect(ids()).toEqual(['n2']);
  expect(board.apply(settings(), start)).toMatchObject([
    { kind: 'added', card: { notification: { id: 'n1' } } },
  ]);
  expect(ids()).toEqual(['n2', 'n1']);
});

test('no change tells of a card that the settings hide', () => {
  board.apply(settings('warning'), start);
  expect(board.apply(note(1, { rank: 20, remainingMs: 1_000 }), start)).toEqual([]);
  expect(board.apply(note(2, { rank: 20 }), start)).toEqual([]);
  const counted = { id: 'n1', position: 3, count: 2, receivedAt: iso(start) };
  expect(board.apply({ type: 'throttled', data: counted }, start)).toEqual([]);
  expect(board.expire(start + 1_000)).toEqual([]);
  const cleared = { id: 'n2', position: 4, reason: 'cleared', by: 'x' } as const;
  expect(board.apply({ type: 'clear', data: cleared }, start)).toEqual([]);
  expect(board.apply(ready(), start)).toEqual([]);
});

test('there is an end to how much it keeps: the lowest and oldest leave', () => {
  board.apply(note(1, { rank: 50 }), start);
  for (let position = 2; position <= 700; position++) board.apply(note(position), start);
  expect(ids()).toHaveLength(500);
  expect(ids().slice(0, 2)).toEqual(['n1', 'n700']);
  expect(ids().at(-1)).toBe('n202');
});

describe('of more than it holds', () => {
  const fill = (rank = 20) => {
    for (let position = 1; position <= 501; position++) board.apply(note(position, { rank }), start);
  };
  const clearUntil = (left: number) => {
    for (const id of ids().slice(left))
      board.apply({ type: 'clear', data: { id, position: 1_000, reason: 'cleared', by: 'x' } }, start);
  };

  test('it knows that some are missing, and asks for more when few are left', () => {
    board.apply(note(1), start);
    expect(board.isPartial).toBe(false);
    fill();
    expect([board.isPartial, board.needsMore]).toEqual([true, false]);
    clearUntil(0);
    expect([board.isPartial, board.needsMore]).toEqual([true, true]);
    board.apply(ready(), start);
    expect([board.isPartial, board.needsMore]).toEqual([false, false]);
  });

  test('nothing is missing of exactly as many as it holds', () => {
    for (let position = 1; position <= 500; position++) board.apply(note(position), start);
    expect([ids().length, board.isPartial]).toEqual([500, false]);
  });

  test('nothing is missing when only what the settings hide was left out', () => {
    board.apply(settings('warning'), start);
    fill();
    expect([board.isPartial, board.needsMore]).toEqual([false, false]);
    board.apply(settings(), start);
    expect(board.isPartial).toBe(true);
  });
});
