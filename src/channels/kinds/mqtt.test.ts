import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { noTexts } from '#contract/history/fields.ts';
import { topicOf } from './mqtt.ts';

const topic = (alarm: string, template = 'alarms/{alarm}') =>
  topicOf(template, {
    ...{ ...noTexts, id: 'n', tenant: 't', receivedAt: 0, title: '', message: '', level: 'error', rank: 40 },
    ...{ ttl: 0, instructions: null, key: alarm, alarm, state: 'open' },
  });
const hash = (alarm: string) => createHash('sha256').update(alarm).digest('hex').slice(0, 8);

test('the topic of an alarm is its key, or has a part of the hash of a key that is no name of a level', () => {
  expect(topic('disk')).toBe('alarms/disk');
  for (const key of ['+', '#', 'a/b', '$SYS', 'a\u0000', '\ud800', '満'.repeat(255)]) {
    const found = topic(key);
    expect(found.endsWith(`-${hash(key)}`)).toBe(true);
    expect(found.slice('alarms/'.length)).not.toMatch(/[/+#$\p{C}]/u);
    expect(found.length).toBeLessThan(130);
  }
  // What a key has in braces is no placeholder.
  expect(topic('{tenant}')).toBe('alarms/{tenant}');
});

test('a key that is written like the topic of another one has a topic of its own', () => {
  const other = topic('disk/1').slice('alarms/'.length);
  expect(topic(other)).not.toBe(topic('disk/1'));
  expect(new Set(['disk/1', 'disk+1', 'disk#1', 'disk_1', other].map((key) => topic(key))).size).toBe(5);
});
