import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import type { Card } from '#client/board.ts';
import type { NotificationEvent } from '#contract/history/notification.ts';
import { levels, notification, start } from '#test/support/panel-events.ts';
import { textWidth } from '../terminal-text.ts';
import { panelRows, type Scene } from './panel-rows.ts';

function card(position: number, over: Partial<NotificationEvent> = {}, count = 0): Card {
  const data = notification(position, over);
  const endsAt = data.expiresAt === null ? null : Date.parse(data.expiresAt);
  const receivedAt = Date.parse(data.receivedAt);
  const since = Date.parse(data.escalated?.since ?? data.receivedAt);
  return { notification: data, receivedAt, since, endsAt, count };
}

function scene(over: Partial<Scene> = {}): Scene {
  return {
    width: 60,
    height: 12,
    colors: 'none',
    name: 'lobby',
    cards: [],
    level: (name) => levels.find((level) => level.name === name),
    isFilling: false,
    isPartial: false,
    now: start + 125_000,
    elapsed: start + 125_000,
    connection: { state: 'online' },
    lastEventAt: start + 122_000,
    retryAt: undefined,
    timeZone: 'UTC',
    ...over,
  };
}

const rowsOf = (over: Partial<Scene>) => panelRows(scene(over)).rows.map((row) => plain(row).trimEnd());
const plain = stripVTControlCharacters;

const power = card(3, {
  level: 'critical',
  rank: 50,
  title: 'Power lost',
  message: 'On battery.\nGenerator has not started.',
  host: 'ups-4',
  ip: '10.0.9.14',
});
const disk = card(2, {
  level: 'warning',
  rank: 30,
  title: 'Disk almost full',
  message: '/var is at 91 %',
  ttl: 250_000,
  expiresAt: '2026-11-20T10:04:10.000Z',
});

test('a panel shows what counts most in full: level as sign and word, title, message, origin, age and time left', () => {
  expect(rowsOf({ cards: [power, disk] })).toEqual([
    '● lobby   ◆ 1  ▲ 1                                  10:02:05',
    '◆ CRITICAL  Power lost                                 2 min',
    '  On battery. Generator has not started.  ups-4  10.0.9.14',
    '',
    '▲ WARNING  Disk almost full                            2 min',
    '  /var is at 91 %                                 2 min left',
    '',
    '',
    '',
    '',
    '',
    'connected, last event 3 s ago                        q quits',
  ]);
});

test('with little room every card has one row, and those without room are counted', () => {
  const cards = [power, disk, ...[1, 4, 5, 6].map((position) => card(position))];
  expect(rowsOf({ cards, height: 8 })).toEqual([
    '● lobby   ◆ 1  ▲ 1  ● 4                             10:02:05',
    '◆ CRITICAL  Power lost  On battery. Generator has not… 2 min',
    '▲ WARNING  Disk almost full  /var is at 91 %      2 min left',
    '● INFO  Title 1  M                                     2 min',
    '● INFO  Title 4  M                                     2 min',
    '● INFO  Title 5  M                                     2 min',
    '● INFO  Title 6  M                                     2 min',
    'connected, last event 3 s ago                        q quits',
  ]);
  const view = panelRows(scene({ cards, height: 6 }));
  expect(plain(view.rows[4] ?? '').trimEnd()).toBe('  + 3 more');
  expect(view.shown).toEqual(['n3', 'n2', 'n1']);
  expect(rowsOf({ cards, height: 6, isPartial: true })[4]).toBe('  + 3 more at least');
});

test('a lost connection is shown in words, and nothing that is shown then counts as seen', () => {
  const waiting = {
    state: 'waiting',
    reason: 'connect ECONNREFUSED',
    answered: false,
    retryInMs: 4_000,
  } as const;
  const over = {
    cards: [power],
    width: 100,
    connection: waiting,
    lastEventAt: start + 92_000,
    retryAt: start + 129_000,
  };
  const rows = rowsOf(over);
  expect(rows[0]).toMatch(/^✗ lobby/);
  expect(rows.at(-1)).toBe(' no contact since 10:01:32, 33 s: next attempt in 4 s (connect ECONNREFUSED)');
  expect(panelRows(scene(over)).shown).toEqual([]);
});

test('colours are the level’s own, or one for each rank in a terminal of sixteen; NO_COLOR leaves bold and dim', () => {
  const ansi = panelRows(scene({ cards: [power, disk], colors: 'ansi16' })).rows;
  expect(ansi[1]).toContain('\x1b[95m');
  expect(ansi[4]).toContain('\x1b[93m');
  const none = panelRows(scene({ cards: [power, disk], colors: 'none' })).rows.join('');
  for (const color of ['\x1b[38', '\x1b[9']) expect(none).not.toContain(color);
  expect(none).toContain('\x1b[1m');
});

test('what may be out of date has lost its colour', () => {
  const colors = 'truecolor';
  const online = panelRows(scene({ cards: [disk], colors })).rows[1];
  const lost = panelRows(scene({ cards: [disk], colors, connection: { state: 'connecting' } })).rows[1];
  expect(online).toContain('\x1b[38;2;');
  expect(lost).not.toContain('\x1b[38;2;');
});

test('a panel with nothing to show says so', () => {
  expect(rowsOf({}).map((row) => row.trim())).toContain('All quiet.');
  expect(rowsOf({ isPartial: true }).join('')).not.toContain('quiet');
  expect(rowsOf({ isFilling: true }).join('')).not.toContain('quiet');
  const connecting = rowsOf({ connection: { state: 'connecting' }, lastEventAt: undefined });
  expect(connecting.join('')).not.toContain('quiet');
  expect(connecting.at(-1)).toContain('connecting …');
});

test('how many a throttle has counted stands beside the age', () => {
  expect(rowsOf({ cards: [card(1, {}, 41)] })[1]).toMatch(/\+41 {2}2 min$/);
});

test('how many alarms follow stands beside the age', () => {
  const cause = { ...card(1), suppresses: { count: 41, alarms: [] } };
  expect(rowsOf({ cards: [cause] })[1]).toMatch(/ 41 followed {2}2 min$/);
});

test('an escalated one says how often, and its age goes on from the first', () => {
  const since = new Date(start - 600_000).toISOString();
  expect(rowsOf({ cards: [card(1, { escalated: { times: 2, since } })] })[1]).toMatch(
    /escalated ×2 {2}12 min$/,
  );
});

test('what senders write cannot reach the terminal', () => {
  const hostile = card(1, {
    title: '\x1b[2J\u202eowned',
    message: 'a\x07\nb\x9b1m',
    host: '\x1b]0;x',
    url: 'https://x/\u2028',
    level: 'warning',
  });
  for (const height of [3, 12]) {
    const text = panelRows(scene({ cards: [hostile], height, name: 'na\x1bme', colors: 'truecolor' }))
      .rows.map(plain)
      .join('');
    expect(text).not.toMatch(/\p{Cc}|\p{Bidi_Control}|\u2028/u);
    expect(text).toContain('\\x1b[2J\\u202eowned');
  }
});

test('every row fits every size of terminal, and there are never more than fit', () => {
  const wide = card(4, {
    title: '日本語のタイトル 👩‍👩‍👧',
    message: '漢字 '.repeat(300),
    host: 'h'.repeat(253),
    level: 'x'.repeat(32),
  });
  const cards = [power, disk, wide, ...Array.from({ length: 40 }, (_, i) => card(10 + i))];
  for (const connection of [{ state: 'online' }, { state: 'connecting' }] as const) {
    for (let width = 1; width <= 90; width += 3) {
      for (let height = 1; height <= 40; height += 3) {
        const { rows, shown } = panelRows(scene({ cards, width, height, connection }));
        expect(rows.length).toBe(height < 3 ? 1 : height);
        expect(Math.max(...rows.map((row) => textWidth(plain(row))))).toBeLessThanOrEqual(width);
        expect(shown.length).toBeLessThanOrEqual(height);
      }
    }
  }
});
