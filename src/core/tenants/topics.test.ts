import { expect, it } from 'vitest';
import { freeTopic, isTopic, topicOf } from './topics.ts';

it.each([
  ['NOC east wall', 'noc-east-wall'],
  ['Süd/2 – Größe', 'sud-2-grosse'],
  ['  --  ', 'panel'],
  ['監視', 'panel'],
  ['docs', 'panel-docs'],
  ['v1', 'panel-v1'],
  ['x'.repeat(100), 'x'.repeat(64)],
])('the topic of the name %j is %j', (name, topic) => {
  expect(topicOf(name)).toBe(topic);
  expect(isTopic(topic)).toBe(true);
});

it('numbers a topic that is taken, and keeps it short enough', () => {
  expect(freeTopic('noc', new Set())).toBe('noc');
  expect(freeTopic('noc', new Set(['noc', 'noc-2']))).toBe('noc-3');
  const long = 'x'.repeat(64);
  expect(freeTopic(long, new Set([long]))).toBe(`${'x'.repeat(62)}-2`);
});

it.each(['', 'a b', 'ä', 'x'.repeat(65), 'docs', 'v1', 'a,b'])('%j is no topic', (text) => {
  expect(isTopic(text)).toBe(false);
});
