import { expect, it } from 'vitest';
import { fieldsOf } from '#integrations/format.ts';
import { parseLevelMap } from '#integrations/severity.ts';
import { itemOfMqtt, takesTopic } from './mqtt-message.ts';

const fields = (topic: string, payload: string | Buffer) => {
  const item = itemOfMqtt(topic, Buffer.from(payload));
  return item && fieldsOf(item, parseLevelMap([]));
};

it('of a text has the topic as its title and host', () => {
  expect(fields('garage/door', 'open\n')).toMatchObject({
    ...{ title: 'garage/door', message: 'open', host: 'garage/door', level: 'info', key: null },
  });
});

it('of JSON has the fields that it names', () => {
  const sent = {
    title: 'Leak',
    message: 'Kitchen',
    level: 'alarm',
    host: 'kitchen:1',
    key: 'leak',
    url: 'http://a/',
  };
  expect(fields('x', JSON.stringify(sent))).toMatchObject({
    ...{ title: 'Leak', message: 'Kitchen', level: 'error', host: 'kitchen', key: 'leak', url: 'http://a/' },
  });
  expect(fields('a/b', '{"message": 1, "level": "incident"}')).toMatchObject({
    ...{ title: 'a/b', message: '1', level: 'incident', host: 'a/b' },
  });
  expect(fields('a', '{"title": "t", "severity": "nonsense", "level": null}')).toMatchObject({
    level: 'info',
  });
});

it('of other JSON is its text', () => {
  for (const text of ['{"level": 254, "state": "ON"}', '[{"title": "x"}]', '{"title":', '12'])
    expect(fields('lamp', text)).toMatchObject({ title: 'lamp', message: text, level: 'info' });
});

it('has the level of its topic, where JSON names none', () => {
  expect(fields('alarms/Critical/water', 'x')?.level).toBe('critical');
  expect(fields('info/error', '{"message": "x"}')?.level).toBe('error');
  expect(fields('error', '{"message": "x", "level": "ok"}')?.level).toBe('success');
});

it('with a number as its level has the level of its topic', () => {
  for (const level of [3, '3', 254, null])
    expect(fields('error', JSON.stringify({ message: 'x', level }))?.level).toBe('error');
  expect(fields('a', '{"message": "x", "level": 30, "severity": "warn"}')?.level).toBe('warning');
});

it('has no colours of a terminal', () => {
  const text = '\u001b[1;31m[E][component:238]: Sensor failed\u001b[0m';
  expect(fields('esphome/log', text)?.message).toBe('[E][component:238]: Sensor failed');
});

it('is nothing when it is blank or no text', () => {
  for (const payload of ['', ' \n', Buffer.from([0xff, 0xd8, 0xff])])
    expect(fields('x', payload)).toBeUndefined();
});

it('of a hostile topic is cut to what the fields may hold', () => {
  const found = fields(`a\n\u0007<b>${'x/'.repeat(30_000)}`, 'text');
  expect(found).toMatchObject({ title: 'a', message: 'text', host: null });
  expect(fields('y'.repeat(60_000), 'text')?.title).toHaveLength(250);
});

it.each([
  ['#', 'a/b', true],
  ['#', '$SYS/x', false],
  ['+/x', '$SYS/x', false],
  ['$SYS/#', '$SYS/x', true],
  ['a/#', 'a', true],
  ['a/#', 'ab', false],
  ['a/+', 'a/b', true],
  ['a/+', 'a/b/c', false],
  ['a/+', 'a', false],
  ['+/+', '/x', true],
  ['a/b', 'a/b', true],
  ['a/b', 'a/B', false],
])('the filter %s and the topic %s: %s', (filter, topic, expected) => {
  expect(takesTopic(filter, topic)).toBe(expected);
});
