import { expect, test } from 'vitest';
import { isCut, isTyped, readDetail as read, subjectText } from './audit-detail.ts';

const words = {
  field: (name: string) => name,
  value: (_: string, value: unknown) =>
    typeof value === 'object' || value === undefined || value === '' ? undefined : String(value),
  rule: () => 'the sentence',
};
/** "role: viewer → admin" for a change, "scopes: notify" for a fact. */
const readDetail = (detail: Parameters<typeof read>[0]) => {
  const { name, facts } = read(detail, words);
  return {
    name,
    facts: facts.map(
      ({ label, before, after }) => `${label}: ${before === undefined ? '' : `${before} → `}${after}`,
    ),
  };
};

test('a thing is called by its name, and what is empty is left out', () => {
  expect(
    readDetail({ name: 'ci', scopes: ['notify', 'panel'], rate: { burst: 2 }, note: '', until: null }),
  ).toEqual({ name: 'ci', facts: ['scopes: notify, panel', 'rate › burst: 2'] });
});

test('a change reads from what was to what is, field by field', () => {
  expect(
    readDetail({
      email: 'ann@example.org',
      before: { role: 'viewer', scopes: [] },
      after: { role: 'admin', scopes: ['notify', 'panel'] },
    }),
  ).toEqual({ name: 'ann@example.org', facts: ['role: viewer → admin', 'scopes: – → notify, panel'] });
  expect(readDetail({ before: { location: 'Berlin' }, after: { location: null } }).facts).toEqual([
    'location: Berlin → –',
  ]);
});

test('of an object only the fields that differ are shown, also those that went', () => {
  const before = { items: '/a', fields: { title: '{/x}', host: '{/h}' } };
  const after = { items: '/a', fields: { title: '{/y}' } };
  expect(readDetail({ before, after }).facts).toEqual([
    'fields › title: {/x} → {/y}',
    'fields › host: {/h} → –',
  ]);
});

test('a change of a value that is too long to show is not left out', () => {
  const cut = `${'x'.repeat(2_000)}…`;
  expect(readDetail({ before: { when: cut }, after: { when: cut } }).facts).toEqual([
    `when: ${cut} → ${cut}`,
  ]);
});

test('a new order reads as a whole, and what is new has nothing before it', () => {
  expect(readDetail({ moved: 2, before: ['b', 'c'], after: ['c', 'b'] }).facts).toEqual([
    'order: b, c → c, b',
    'moved: 2',
  ]);
  expect(readDetail({ before: null, after: { rank: 35, repeatMs: null } }).facts).toEqual(['rank: 35']);
});

test('a rule that was made or deleted reads as its sentence', () => {
  const rule = { name: 'Lab', when: {}, then: { mute: true }, windows: [], timeZone: 'UTC' };
  expect(readDetail({ ...rule, enabled: true, note: '' })).toEqual({
    name: 'Lab',
    facts: [': the sentence'],
  });
  expect(readDetail({ ...rule, enabled: false, note: 'why' }).facts).toEqual([
    ': the sentence',
    'note: why',
    'enabled: false',
  ]);
});

test('a rule of which the server cut a part reads field by field, and not as the sentence of another rule', () => {
  const rule = { name: 'Lab', when: '{"host":["a…', then: { mute: true }, windows: [], note: '' };
  expect(readDetail(rule)).toEqual({ name: 'Lab', facts: ['when: {"host":["a…', 'then › mute: true'] });
  expect(readDetail({ ...rule, when: {}, windows: '[{"days"…' }).facts).toEqual([
    'then › mute: true',
    'windows: [{"days"…',
  ]);
});

test('ids and empty details say nothing', () => {
  expect(readDetail({})).toEqual({ name: undefined, facts: [] });
  expect(readDetail({ email: 'a@b.c', invitation: '0197' }).facts).toEqual([]);
});

test('where a name is missing, words stand in the place of an id', () => {
  const id = '0197b2a4-7f3c-7000-8000-0123456789ab';
  const subject = (action: string, by: string, of = id, name?: string) =>
    subjectText({ action, subject: of, by }, name, {
      nameOf: (each) => (each === 'known' ? 'Ops' : undefined),
      unnamed: (kind) => (kind === 'newer' ? undefined : `some ${kind}`),
    });
  expect(subject('channel.update', 'cli', id, 'Hook')).toBe('Hook');
  expect(subject('push-device.link', 'cli', 'known')).toBe('Ops');
  expect(subject('push-device.link', 'ann@example.org')).toBe('some push-device');
  expect(subject('invitation.create', 'ann@example.org')).toBe('some invitation');
  expect(subject('session.begin', 'gone@example.org')).toBe('gone@example.org');
  expect(subject('account.password', 'cli')).toBe('some account');
  expect(subject('rule.order', 'cli', 'rules')).toBe('some rule');
  expect(subject('level.put', 'cli', 'deploy')).toBe('deploy');
  expect(subject('newer.thing', 'cli')).toBe(id);
});

test.each(['when', 'then', 'windows', 'order', 'rate'])(
  '%s that the server cut is no value of it',
  (field) => {
    expect(isTyped(field, '[{"days":["mon"],"fr…')).toBe(false);
    expect(isCut(field, '[{"days":["mon"],"fr…')).toBe(true);
  },
);

test('a field of another type has no words of its own', () => {
  for (const [field, value] of [
    ['role', { a: 1 }],
    ['order', { a: 1 }],
    ['then', null],
    ['rate', 'fast'],
    ['durationMs', 'long'],
    ['expiresAt', 'soon'],
    ['constructor', 'x'],
  ] as const)
    expect([field, isTyped(field, value), isCut(field, value)]).toEqual([field, false, false]);
  for (const [field, value] of [
    ['retentionDays', 'off'],
    ['retentionCount', null],
    ['rate', 'off'],
    ['order', []],
  ] as const)
    expect([field, isTyped(field, value)]).toEqual([field, true]);
});
