import { expect, test } from 'vitest';
import type { Alarm } from '#contract/history/alarm.ts';
import { testAlarm } from '#test/support/alarm.ts';
import { type ListLine, labelNamesOf, linesOf, rowsBetween, summaryOf } from './alarm-groups.ts';

const rowsOf = (...given: Partial<Alarm>[]) =>
  given.map((each) => {
    const alarm = testAlarm(each);
    return { key: alarm.id, alarm, hasLeft: false };
  });
const none = new Set<string>();
const show = (lines: readonly ListLine[]) =>
  lines.map((line) =>
    'group' in line ? `${line.group.title} (${line.group.rows.length})` : line.row.alarm.title,
  );

const rows = rowsOf(
  { title: 'Core switch down' },
  { title: 'Queue orders-1 is not read', host: 'mq-2', labels: { team: 'shop', env: 'prod' } },
  { title: 'Fan failed', host: 'mq-2', labels: { env: 'prod' } },
  { title: 'Queue orders-2 is not read', host: 'mq-10', labels: { Team: 'shop' } },
);

test('similar alarms are one line at the place of the first, and the others stand alone', () => {
  expect(show(linesOf(rows, 'similar', none))).toEqual([
    'Core switch down',
    'Queue … is not read (2)',
    'Fan failed',
  ]);
});

test('an open group lists its alarms below it', () => {
  const [, group] = linesOf(rows, 'similar', none);
  expect(show(linesOf(rows, 'similar', new Set([group?.key ?? ''])))).toEqual([
    'Core switch down',
    'Queue … is not read (2)',
    'Queue orders-1 is not read',
    'Queue orders-2 is not read',
    'Fan failed',
  ]);
});

test('hosts and labels are groups, and what has none is one, too', () => {
  expect(show(linesOf(rows, 'host', none))).toEqual([' (1)', 'mq-2 (2)', 'mq-10 (1)']);
  expect(show(linesOf(rows, 'label:team', none))).toEqual([' (2)', 'team=shop (2)']);
  expect(linesOf(rows, 'none', none)).toHaveLength(4);
});

test('alarms that a rule groups are one line, named by what the rule says', () => {
  const group = ['label:cluster'] as const;
  const of = (title: string, labels: Record<string, string>) => ({
    title,
    labels,
    group: [...group],
    level: 'error',
  });
  const grouped = rowsOf(
    of('Mail waits', { cluster: 'eu-1' }),
    of('Disk full', { Cluster: 'eu-1' }),
    of('Disk full', { cluster: 'eu-2' }),
    of('Fan 1 failed', { cluster: 'eu-3' }),
    of('Fan 2 failed', { cluster: 'eu-3' }),
    of('Door 1 open', {}),
    of('Door 2 open', {}),
  );
  expect(show(linesOf(grouped, 'similar', none))).toEqual([
    'cluster=eu-1 (2)',
    'Disk full',
    'Fan … failed · cluster=eu-3 (2)',
    'Door … open (2)',
  ]);
});

test('in hosts and labels, case does not count', () => {
  const mixed = rowsOf(
    { host: 'DB-1', labels: { site: 'a' } },
    { host: 'db-1', labels: { Site: 'a' } },
    { host: 'db-2', labels: { SITE: 'A', env: 'x' } },
  );
  expect(show(linesOf(mixed, 'host', none))).toEqual(['DB-1 (2)', 'db-2 (1)']);
  expect(show(linesOf(mixed, 'label:site', none))).toEqual(['site=a (3)']);
  expect(labelNamesOf(mixed)).toEqual(['site', 'env']);
});

test('a group names the level that its rule says by its word, and has the highest level of its alarms', () => {
  const group = ['level'] as const;
  const byLevel = rowsOf({ title: 'a', group: [...group] }, { title: 'b', group: [...group] });
  expect(show(linesOf(byLevel, 'similar', none, (level) => `the word of ${level}`))).toEqual([
    'the word of error (2)',
  ]);
  const [line] = linesOf(
    rowsOf({ rank: 30, level: 'warning' }, { rank: 50, level: 'critical' }),
    'similar',
    none,
  );
  expect(line && 'group' in line && summaryOf(line.group).level).toBe('critical');
});

test('a group says its hosts in order, what all have in common, and how many are acknowledged', () => {
  const acknowledged = { at: '2026-11-20T00:00:00.000Z', by: 'Ada', note: null, until: null };
  const [line] = linesOf(
    rowsOf(
      { host: 'db-10', labels: { a: '1', b: '2' }, acknowledged, shownOn: [{ id: 'p1', name: 'Lobby' }] },
      {
        host: 'db-2',
        labels: { a: '1', b: '3' },
        shownOn: [
          { id: 'p1', name: 'Lobby' },
          { id: 'p2', name: 'Lab' },
        ],
      },
    ),
    'similar',
    none,
  );
  expect(line && 'group' in line && summaryOf(line.group)).toMatchObject({
    hosts: ['db-2', 'db-10'],
    labels: { a: '1' },
    acknowledged: 1,
    shownOn: [
      { id: 'p1', name: 'Lobby' },
      { id: 'p2', name: 'Lab' },
    ],
  });
});

test('a group names the alarms by which all of it are suppressed: a cause that repeated once', () => {
  const [core, other] = [
    { id: '1', title: 'core' },
    { id: '2', title: 'other' },
  ];
  const causesOf = (...causes: Alarm['suppressedBy'][]) => {
    const given = causes.map((suppressedBy, n) => ({ host: `sw-${n}`, suppressedBy }));
    const [line] = linesOf(rowsOf(...given), 'similar', none);
    return line && 'group' in line ? summaryOf(line.group).causes : 'no group';
  };
  expect(causesOf(core, { ...core, id: '3' })).toMatchObject([{ title: 'core' }]);
  expect(causesOf(core, other)).toEqual([core, other]);
  for (const causes of [causesOf(core, null), causesOf(null, null)]) expect(causes).toEqual([]);
});

test('a group names each of its owners once, and how many alarms have one', () => {
  const owners = [{ id: 'u1', name: 'Ada' }, null, { id: 'u1', name: 'Ada' }, { id: 'u2', name: 'Grace' }];
  const [line] = linesOf(rowsOf(...owners.map((owner, n) => ({ host: `sw-${n}`, owner }))), 'similar', none);
  expect(line && 'group' in line && summaryOf(line.group)).toMatchObject({
    owners: ['Ada', 'Grace'],
    owned: 3,
  });
});

test('a range takes the alarms of closed groups', () => {
  const lines = linesOf(rows, 'similar', none);
  expect(rowsBetween(lines, 2, 1).map(({ alarm }) => alarm.title)).toEqual([
    'Queue orders-1 is not read',
    'Queue orders-2 is not read',
    'Fan failed',
  ]);
});

test('the names of labels are listed, the most frequent first', () => {
  expect(labelNamesOf(rows)).toEqual(['env', 'team']);
});

test('five thousand alarms are grouped at once', () => {
  const many = rowsOf(
    ...Array.from({ length: 5_000 }, (_, n) => ({ title: `Port ${n} flaps`, host: `sw-${n % 300}` })),
  );
  expect(linesOf(many, 'similar', none)).toHaveLength(1);
  expect(linesOf(many, 'host', none)).toHaveLength(300);
});
