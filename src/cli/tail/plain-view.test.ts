import { expect, test } from 'vitest';
import { Board, type BoardChange } from '#client/board.ts';
import type { NotificationEvent } from '#contract/history/notification.ts';
import { FakeIo } from '#test/support/fake-io.ts';
import { notification, start } from '#test/support/panel-events.ts';
import { PlainView, plainLine } from './plain-view.ts';

function change(kind: BoardChange['kind'], over: Partial<NotificationEvent> = {}, count = 0): BoardChange {
  return {
    kind,
    card: { notification: notification(1, over), receivedAt: start, since: start, endsAt: null, count },
  };
}

const later = start + 61_999;

test('a notification is one line: when it came, its level, what it says and where it comes from', () => {
  const over = { level: 'critical', title: 'Disk full', message: '/var', host: 'db-01', ip: '10.0.0.5' };
  expect(plainLine(change('added', over), later)).toBe(
    '2026-11-20T10:00:00Z  critical  Disk full — /var  host=db-01  ip=10.0.0.5',
  );
});

test('labels are one value of the line', () => {
  const labels = { env: 'prod', site: 'plant\n2' };
  expect(plainLine(change('added', { labels }), later)).toBe(
    '2026-11-20T10:00:00Z  info      Title 1 — M  labels="env=prod · site=plant\\n2"',
  );
  expect(plainLine(change('added', { labels: { env: '' } }), later)).toMatch(/ {2}labels=env=$/);
});

test('levels keep their column', () => {
  expect(plainLine(change('added'), later)).toBe('2026-11-20T10:00:00Z  info      Title 1 — M');
});

test('text cannot break the line or reach the terminal, and a value with spaces is quoted', () => {
  const over = { title: 'a\nb', message: '\x1b[31mred\u202e', key: 'say "hi" now' };
  expect(plainLine(change('added', over), later)).toBe(
    '2026-11-20T10:00:00Z  info      a\\nb — \\x1b[31mred\\u202e  key="say \\"hi\\" now"',
  );
});

test('clearing, replacing and counting are lines, at the time they happen', () => {
  expect(plainLine(change('cleared', { host: 'db-01' }), later)).toBe(
    '2026-11-20T10:01:01Z  cleared   Title 1  host=db-01',
  );
  expect(plainLine(change('replaced'), later)).toBe('2026-11-20T10:01:01Z  replaced  Title 1');
  expect(plainLine(change('counted', {}, 7), later)).toBe('2026-11-20T10:01:01Z  counted   Title 1  count=7');
  const acknowledged = { at: '2026-11-20T10:01:00.000Z', by: 'Ada', note: 'on my way', until: null };
  expect(plainLine(change('acknowledged', { acknowledged }), later)).toBe(
    '2026-11-20T10:01:01Z  acknowledged  Title 1  by=Ada  note="on my way"',
  );
  const until = '2026-11-20T14:30:00.000Z';
  expect(plainLine(change('acknowledged', { acknowledged: { ...acknowledged, until } }), later)).toBe(
    '2026-11-20T10:01:01Z  acknowledged  Title 1  by=Ada  until=2026-11-20T14:30:00Z  note="on my way"',
  );
});

test('an acknowledgement that is taken back and an alarm on the shelf are lines', () => {
  expect(plainLine(change('unacknowledged'), later)).toBe('2026-11-20T10:01:01Z  unacknowledged  Title 1');
  expect(plainLine(change('shelved', { host: 'db-01' }), later)).toBe(
    '2026-11-20T10:01:01Z  shelved   Title 1  host=db-01',
  );
});

test('how many alarms follow one is a line, and so is an alarm that is suppressed', () => {
  const { card } = change('followed');
  const followed = (count: number) => ({
    kind: 'followed' as const,
    card: { ...card, suppresses: count > 0 ? { count, alarms: [] } : undefined },
  });
  expect([41, 0].map((count) => plainLine(followed(count), later))).toEqual([
    '2026-11-20T10:01:01Z  followed  Title 1  count=41',
    '2026-11-20T10:01:01Z  followed  Title 1  count=0',
  ]);
  expect(plainLine(change('suppressed'), later)).toBe('2026-11-20T10:01:01Z  suppressed  Title 1');
});

test('what comes back from the shelf is written and shown again, and what comes again after a gap is not', () => {
  const io = new FakeIo();
  const shown: string[] = [];
  const view = new PlainView(io, { url: 'http://belfry.test', onShown: (ids) => shown.push(...ids) });
  const board = new Board();
  for (const kind of ['added', 'added', 'shelved', 'added', 'added'] as const)
    view.update(board, [change(kind)], start);
  const words = io.out.split('\n').map((line) => line.split(/ {2,}/)[1]);
  expect(words).toEqual(['info', 'shelved', 'info', undefined]);
  expect(shown).toEqual(['n1', 'n1']);
});

test('what no event of the stream tells is no line', () => {
  expect(plainLine(change('expired'), later)).toBeUndefined();
  expect(plainLine(change('dropped'), later)).toBeUndefined();
});
