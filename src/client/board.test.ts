import { beforeEach, expect, test } from 'vitest';
import { iso, note, ready, readyData, start } from '../../test/support/panel-events.ts';
import { Board } from './board.ts';
import type { PanelEvent } from './panel-event.ts';

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

test('cards expire by the clock of the server, however wrong our own is', () => {
  const ours = start + 3_600_000;
  board.apply(ready(), ours);
  board.apply(note(1, { expiresAt: iso(start + 1_000) }), ours);
  board.apply(note(2, { expiresAt: null }), ours);
  expect(board.expire(ours + 999)).toEqual([]);
  expect(board.expire(ours + 1_000)).toMatchObject([
    { kind: 'expired', card: { notification: { id: 'n1' } } },
  ]);
  expect(ids()).toEqual(['n2']);
  board.apply({ type: 'heartbeat', data: { serverTime: iso(start + 60_000), head: 2 } }, ours);
  expect(board.serverTime(ours)).toBe(start + 60_000);
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

test('settings decide from which level on cards are shown', () => {
  board.apply(note(1, { rank: 20 }), start);
  board.apply(note(2, { rank: 30, level: 'warning' }), start);
  const { panel, tenant, levels } = readyData();
  board.apply(
    { type: 'settings', data: { panel: { ...panel, display: { minLevel: 'warning' } }, tenant, levels } },
    start,
  );
  expect(ids()).toEqual(['n2']);
  board.apply({ type: 'settings', data: { panel, tenant, levels } }, start);
  expect(ids()).toEqual(['n2', 'n1']);
});

test('there is an end to how much it keeps: the lowest and oldest leave', () => {
  board.apply(note(1, { rank: 50 }), start);
  for (let position = 2; position <= 700; position++) board.apply(note(position), start);
  expect(ids()).toHaveLength(500);
  expect(ids().slice(0, 2)).toEqual(['n1', 'n700']);
  expect(ids().at(-1)).toBe('n202');
});
