import { expect, it } from 'vitest';
import { noTexts } from '#contract/history/fields.ts';
import { labelsText } from '#contract/history/labels.ts';
import { payloadOf, read } from '#test/support/integration.ts';
import { opsgenie } from './opsgenie.ts';

/** Opsgenie's own example. */
const alert = {
  message: 'An example alert message',
  alias: 'Life is too short for no alias',
  description: 'Every alert needs a description',
  responders: [{ id: '4513b7ea', type: 'team' }],
  tags: ['OverwriteQuietHours', 'Critical'],
  details: { key1: 'value1', key2: 'value2' },
  entity: 'db-01',
  priority: 'P1',
};

it('an alert and its close have one key', () => {
  expect(read(opsgenie, alert)).toEqual([
    {
      ...noTexts,
      title: 'An example alert message',
      message: 'Every alert needs a description\n\nkey1: value1\nkey2: value2',
      level: 'critical',
      ttl: 0,
      host: 'db-01',
      key: `opsgenie:${alert.alias}`,
      labels: labelsText({ key1: 'value1', key2: 'value2', OverwriteQuietHours: '', Critical: '' }),
    },
  ]);
  const params = { alias: alert.alias };
  expect(opsgenie.alertKey?.(payloadOf(undefined, { params }))).toBe(`opsgenie:${alert.alias}`);
  expect(opsgenie.alertKey?.(payloadOf(alert))).toBeUndefined();
  for (const body of [undefined, {}, { source: 'x', note: 'done' }])
    expect(read(opsgenie, body, { params })[0]).toMatchObject({
      level: 'success',
      key: `opsgenie:${alert.alias}`,
    });
});

it('the end of an alert has its labels', () => {
  const labels = labelsText({ team: 'db' });
  const stored = { id: '1', title: 'Disk', sentLevel: 'error', labels };
  const payload = { ...payloadOf(undefined, { params: { alias: 'a' } }), alert: stored };
  const [closed] = opsgenie.read(payload);
  expect(closed?.labels).toEqual([['team', 'db']]);
});

it.each([
  ['P2', 'error'],
  ['P3', 'warning'],
  ['P5', 'info'],
  [undefined, 'warning'],
])('priority %s is %s', (priority, level) => {
  expect(read(opsgenie, { message: 'm', priority })[0]?.level).toBe(level);
});

it.each([undefined, {}, [], 'x', { message: '' }, { message: 'm', details: 'x' }])(
  '%j is refused',
  (body) => {
    expect(() => read(opsgenie, body)).toThrow(/must be/);
  },
);
