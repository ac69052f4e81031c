import { expect, test } from 'vitest';
import { readActiveSilences, readSilencedAlerts } from './silenced.ts';

const alert = {
  fingerprint: '94348721e418c1ed',
  labels: { alertname: 'Disk' },
  startsAt: '2026-11-30T05:58:12.000Z',
  updatedAt: '2026-11-30T06:58:12.000Z',
  status: { state: 'suppressed', silencedBy: ['154502df-d209-48f6-a1cf-649dcfe01f09'], inhibitedBy: [] },
};
const silence = {
  id: '154502df-d209-48f6-a1cf-649dcfe01f09',
  status: { state: 'active' },
  createdBy: 'Ann',
  comment: 'planned work',
  endsAt: '2026-11-30T07:58:12.117Z',
};
const wrongs = [null, 7, true, '', 'x y', [], {}, [null], { state: 7 }, '\u0000', 'x'.repeat(1_000)];
/** Each field of an item, with each wrong value. */
const broken = (item: object) =>
  Object.keys(item).flatMap((name) => wrongs.map((wrong) => ({ ...item, [name]: wrong })));

test('alerts are read with the silences that cover them, and those without a form are left out', () => {
  const { status, ...others } = alert;
  expect(readSilencedAlerts(JSON.stringify([...wrongs, alert]))).toEqual([
    { ...others, silences: status.silencedBy },
  ]);
  for (const each of readSilencedAlerts(JSON.stringify(broken(alert)))) {
    expect(each.fingerprint).toMatch(/^[\w-]{1,100}$/);
    expect(each.silences.every((id) => /^[\w-]{1,100}$/.test(id))).toBe(true);
    expect(Object.values(each.labels).every((value) => typeof value === 'string')).toBe(true);
    expect(typeof each.startsAt).toBe('string');
  }
  const wrongLabels = { ...alert, labels: { a: 'b', c: 7, __proto__: 'x', d: null } };
  expect(readSilencedAlerts(JSON.stringify([wrongLabels]))[0]?.labels).toEqual({ a: 'b' });
});

test('silences are read if they stand, and those without a form are left out', () => {
  const { id, createdBy, comment } = silence;
  const read = (...items: unknown[]) => [...readActiveSilences(JSON.stringify(items)).values()];
  expect(read(...wrongs, silence)).toEqual([{ id, createdBy, comment, endsAt: Date.parse(silence.endsAt) }]);
  for (const state of ['pending', 'expired']) expect(read({ ...silence, status: { state } })).toEqual([]);
  expect(read({ id, status: silence.status, endsAt: silence.endsAt })).toMatchObject([
    { createdBy: undefined, comment: null },
  ]);
  for (const each of broken(silence).flatMap((item) => read(item))) {
    expect(each.id).toMatch(/^[\w-]{1,100}$/);
    expect(Number.isSafeInteger(each.endsAt)).toBe(true);
    expect(['string', 'undefined']).toContain(typeof each.createdBy);
  }
  const [{ endsAt } = { endsAt: 0 }] = read({ ...silence, endsAt: '9999-12-31T23:59:59.999Z' });
  expect(new Date(endsAt).toISOString()).toBe('9999-12-31T23:59:59.999Z');
});

test.each(['', '<html>', '{', '{}', '7', 'null', '"x"', '['.repeat(500), '[1,'])(
  'no list is an error: %s',
  (body) => {
    expect(() => readSilencedAlerts(body)).toThrow(SyntaxError);
    expect(() => readActiveSilences(body)).toThrow(SyntaxError);
  },
);
