import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import type { Card } from '#client/board.ts';
import type { NotificationEvent } from '#contract/notification.ts';
import { levels, notification, start } from '#test/support/panel-events.ts';
import { createPaint } from '../terminal/paint.ts';
import { textWidth } from '../terminal/text-width.ts';
import { panelView, type Scene } from './panel-view.ts';

function card(position: number, over: Partial<NotificationEvent> = {}, count = 0): Card {
  const data = notification(position, over);
  const endsAt = data.expiresAt === null ? null : Date.parse(data.expiresAt);
  return { notification: data, receivedAt: Date.parse(data.receivedAt), endsAt, count };
}

function scene(over: Partial<Scene> = {}): Scene {
  return {
    width: 60,
    height: 12,
    paint: createPaint('none'),
    name: 'lobby',
    cards: [],
    level: (name) => levels.find((level) => level.name === name),
    isFilling: false,
    isPartial: false,
    now: start + 125_000,
    elapsed: start + 125_000,
    connection: { state: 'online' },
    heardAt: start + 122_000,
    retryAt: undefined,
    timeZone: 'UTC',
    ...over,
  };
}

const rowsOf = (over: Partial<Scene>) => panelView(scene(over)).rows.map((row) => plain(row).trimEnd());
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
    '▌ ◆ CRITICAL  Power lost                               2 min',
    '▌ On battery.',
    '▌ Generator has not started.',
    '▌ ups-4  10.0.9.14',
    '',
    '▌ ▲ WARNING  Disk almost full                          2 min',
    '▌ /var is at 91 %',
    '▌                                    ━━━━━━━━────────  2 min',
    '',
    '',
    'connected, last heard 3 s ago                         q ends',
  ]);
});

test('with little room every card has a row before any has two, and the rest is counted', () => {
  const cards = [power, disk, ...[1, 4, 5, 6].map((position) => card(position))];
  expect(rowsOf({ cards, height: 8 })).toEqual([
    '● lobby   ◆ 1  ▲ 1  ● 4                             10:02:05',
    '▌ ◆ CRITICAL  Power lost  On battery. Generator has n… 2 min',
    '▌ ▲ WARNING  Disk almost full  /var is at 91 %         2 min',
    '▌ ● INFO  Title 1  M                                   2 min',
    '▌ ● INFO  Title 4  M                                   2 min',
    '▌ ● INFO  Title 5  M                                   2 min',
    '▌ ● INFO  Title 6  M                                   2 min',
    'connected, last heard 3 s ago                         q ends',
  ]);
  const view = panelView(scene({ cards, height: 6 }));
  expect(plain(view.rows[4] ?? '').trimEnd()).toBe('  + 3 more');
  expect(view.shown).toEqual(['n3', 'n2', 'n1']);
  expect(rowsOf({ cards, height: 6, isPartial: true })[4]).toBe('  + 3 more at least');
});

test('a lost connection is told in words, and nothing that is shown then counts as seen', () => {
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
    heardAt: start + 92_000,
    retryAt: start + 129_000,
  };
  const rows = rowsOf(over);
  expect(rows[0]).toMatch(/^✗ lobby/);
  expect(rows.at(-1)).toBe(' no contact since 10:01:32, 33 s: next attempt in 4 s (connect ECONNREFUSED)');
  expect(panelView(scene(over)).shown).toEqual([]);
});

test('what may be out of date has lost its colour', () => {
  const paint = createPaint('truecolor');
  const colored = '\x1b[1;38;2;';
  const online = panelView(scene({ cards: [disk], paint })).rows[1];
  const lost = panelView(scene({ cards: [disk], paint, connection: { state: 'connecting' } })).rows[1];
  expect(online).toContain(colored);
  expect(lost).not.toContain(colored);
});

test('a panel with nothing to show says so', () => {
  expect(rowsOf({}).map((row) => row.trim())).toContain('All quiet.');
  expect(rowsOf({ isPartial: true }).join('')).not.toContain('quiet');
  expect(rowsOf({ isFilling: true }).join('')).not.toContain('quiet');
  const connecting = rowsOf({ connection: { state: 'connecting' }, heardAt: undefined });
  expect(connecting.join('')).not.toContain('quiet');
  expect(connecting.at(-1)).toContain('connecting …');
});

test('how many a throttle has counted stands beside the age', () => {
  expect(rowsOf({ cards: [card(1, {}, 41)] })[1]).toMatch(/\+41 {2}2 min$/);
});

test('what senders write cannot reach the terminal', () => {
  const hostile = card(1, {
    title: '\x1b[2J\u202eowned',
    message: 'a\x07\nb\x9b1m',
    host: '\x1b]0;x',
    url: 'https://x/\u2028',
    level: 'warning',
  });
  const paint = createPaint('truecolor');
  for (const height of [3, 12]) {
    const text = panelView(scene({ cards: [hostile], height, name: 'na\x1bme', paint }))
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
        const { rows, shown } = panelView(scene({ cards, width, height, connection }));
        expect(rows.length).toBe(height < 3 ? 1 : height);
        expect(Math.max(...rows.map((row) => textWidth(plain(row))))).toBeLessThanOrEqual(width);
        expect(shown.length).toBeLessThanOrEqual(height);
      }
    }
  }
});
