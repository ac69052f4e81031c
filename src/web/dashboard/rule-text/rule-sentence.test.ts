import fc from 'fast-check';
import { createInstance, type TFunction } from 'i18next';
import { beforeAll, describe, expect, test } from 'vitest';
import { ruleSpec } from '../../../../test/support/arbitrary-rules.ts';
import * as de from '../texts/de.ts';
import * as en from '../texts/en.ts';
import {
  type RuleWords,
  ruleSentence,
  type SentenceRule,
  sentenceText,
  suggestedName,
  traceSentence,
} from './rule-sentence.ts';

const wordsOf = (t: TFunction<'ruleSentence'>): RuleWords => ({
  t,
  level: (name) => name,
  duration: (ms) => `${ms / 1000} s`,
  dateTime: (at) => at.slice(0, 16),
  weekday: (day) => day,
  panels: [
    { id: 'p1', name: 'NOC east', tags: ['noc'] },
    { id: 'p2', name: 'NOC west', tags: ['noc', 'wall'] },
  ],
});
let english: RuleWords;
let german: RuleWords;
beforeAll(async () => {
  const texts = createInstance();
  await texts.init({
    lng: 'en',
    resources: { en, de },
    keySeparator: false,
    nsSeparator: false,
    interpolation: { escapeValue: false },
  });
  english = wordsOf(texts.getFixedT('en', 'ruleSentence'));
  german = wordsOf(texts.getFixedT('de', 'ruleSentence'));
});
const sentenceOf = (rule: SentenceRule, words = english) => sentenceText(ruleSentence(rule, words));

const toNoc: SentenceRule = {
  when: { host: ['db-*'], minLevel: 'warning' },
  then: { panels: { tags: ['noc'] }, setTtl: 5000 },
};

test('a rule reads as a sentence, in each language', () => {
  expect(sentenceOf(toNoc)).toBe(
    'When host matches db-* and level is at least warning → 2 panels tagged noc, show for 5 s, then stop',
  );
  expect(sentenceOf(toNoc, german)).toBe(
    'Wenn Host zu db-* passt und Stufe mindestens warning ist → 2 Anzeigen mit Tag noc, 5 s lang zeigen, dann Ende',
  );
});

test('a rule says whose schedule it notifies, and its trace who was on call, in each language', () => {
  const rule: SentenceRule = { then: { panels: 'none', onCall: 's' } };
  const [inEnglish, inGerman] = [english, german].map((words) => ({
    ...words,
    onCall: [{ id: 's', name: 'Ops' }],
  }));
  expect(sentenceOf(rule, inEnglish)).toBe(
    'Every notification → no panel, notify the people on call by Ops, then stop',
  );
  expect(sentenceOf(rule, inGerman)).toBe(
    'Jede Meldung → keine Anzeige, die Bereitschaft nach Ops benachrichtigen, dann Ende',
  );
  expect(sentenceOf(rule, { ...english, onCall: [] })).toContain('by an on-call schedule that is deleted');
  const onCall = { id: 's', name: 'Ops', people: ['Ana', 'Ben'] };
  const trace = { id: 'r', name: 'r', outcome: 'matched', reason: '', onCall } as const;
  expect(traceSentence(trace, inEnglish ?? english, { rule })).toBe(
    'no panel, notify the people on call by Ops (on call: Ana, Ben), then stop',
  );
  expect(traceSentence({ ...trace, onCall: { ...onCall, people: [] } }, german, { rule })).toContain(
    '(Bereitschaft: niemand)',
  );
});

test('a rule says what it suppresses, in each language', () => {
  const suppress = { when: { title: { contains: 'unreachable' } }, equal: ['label:site' as const] };
  const rule: SentenceRule = { when: { host: ['core-sw'] }, then: { suppress }, continue: true };
  expect(sentenceOf(rule)).toBe(
    'When host is core-sw → suppress other alarms whose title contains “unreachable” with the same label site while the alarm stands, then continue',
  );
  expect(sentenceOf(rule, german)).toBe(
    'Wenn Host core-sw ist → andere Alarme, bei denen Titel „unreachable“ enthält, mit gleichem Wert für Label „site“ unterdrücken, solange der Alarm besteht, dann weiter',
  );
  expect(sentenceOf({ then: { suppress: { when: {}, equal: [] } } })).toBe(
    'Every notification → suppress other alarms while the alarm stands, then stop',
  );
});

test.each<[string, SentenceRule]>([
  ['Every notification → all panels, then continue', { then: { panels: 'all' }, continue: true }],
  [
    'When host is db-1 → mute, then stop · until 2026-11-22T08:00',
    { when: { host: ['db-1'] }, then: { mute: true }, activeUntil: '2026-11-22T08:00:00Z' },
  ],
  [
    'When IP is in 10.0.0.0/8 and Source IP is not 10.0.0.5 → no panel, then stop',
    { when: { ip: ['10.0.0.0/8'], not: { sourceIp: ['10.0.0.5'] } }, then: { panels: 'none' } },
  ],
  [
    'When title matches /^disk/ and message does not contain “test” or “dry run” → set level to error, then stop',
    {
      when: { title: { regex: '^disk' }, not: { message: { contains: ['test', 'dry run'] } } },
      then: { setLevel: 'error' },
    },
  ],
  [
    'When level is info → show until cleared, show one per 60 s for the same host and title, count the rest, then stop · mon–fri 08:00–18:00 (UTC)',
    {
      when: { level: ['info'] },
      then: { setTtl: 0, throttle: { by: ['host', 'title'], perMs: 60_000 } },
      windows: [{ days: ['fri', 'mon', 'tue', 'wed', 'thu'], from: '08:00', until: '18:00' }],
      timeZone: 'UTC',
    },
  ],
  [
    'When level is at least error → NOC east, escalate as critical after 300 s, then to 1 panel tagged wall after another 900 s unless shown, then stop',
    {
      when: { minLevel: 'error' },
      then: {
        panels: { ids: ['p1'] },
        escalate: [
          { afterMs: 300_000, setLevel: 'critical' },
          { afterMs: 900_000, panels: { tags: ['wall'] }, unless: 'shown' },
        ],
      },
    },
  ],
  [
    'When level is error and label env is prod or test and label site is present and label team is not "" → show one per 60 s for the same label cluster and title, count the rest, then stop',
    {
      when: {
        level: ['error'],
        labels: { env: ['prod', 'test'], site: ['*'] },
        not: { labels: { team: [''] } },
      },
      then: { throttle: { by: ['label:cluster', 'title'], perMs: 60_000 } },
    },
  ],
  [
    'Every notification → group by title and label cluster, then stop',
    { then: { group: ['title', 'label:cluster'] } },
  ],
  [
    'Every notification → end acknowledgements after 3600 s, then continue',
    { then: { acknowledgeForMs: 3_600_000 }, continue: true },
  ],
  ['Every notification → end acknowledgements with the alarm, then stop', { then: { acknowledgeForMs: 0 } }],
  [
    'When not all of (label env matches stag*, label site is present) → mute, then stop',
    { when: { not: { labels: { env: ['stag*'], site: ['*'] } } }, then: { mute: true } },
  ],
  [
    'When host is a, b, c or 3 more → NOC east, a deleted panel, then stop',
    { when: { host: ['a', 'b', 'c', 'd', 'e', 'f'] }, then: { panels: { ids: ['p1', 'p9'] } } },
  ],
])('%s', (sentence, rule) => {
  expect(sentenceOf(rule)).toBe(sentence);
});

test('a rule about labels reads as a sentence in German', () => {
  expect(sentenceOf({ then: { group: ['label:cluster', 'title'] } }, german)).toBe(
    'Jede Meldung → nach Label „cluster“ und Titel gruppieren, dann Ende',
  );
  const labels = { env: ['prod'], site: ['*'] };
  expect(sentenceOf({ when: { labels, not: { labels: { a: ['*'] } } }, then: { mute: true } }, german)).toBe(
    'Wenn Label „env“ prod ist und Label „site“ vorhanden ist und Label „a“ fehlt → stummschalten, dann Ende',
  );
  expect(sentenceOf({ when: { not: { labels } }, then: { mute: true } }, german)).toBe(
    'Wenn nicht alles zugleich gilt (Label „env“ prod ist, Label „site“ vorhanden ist) → stummschalten, dann Ende',
  );
});

test('the time of a later step counts from the step before, in each language', () => {
  const rule: SentenceRule = {
    then: { escalate: [{ afterMs: 300_000 }, { afterMs: 900_000, panels: { tags: ['wall'] } }] },
  };
  expect(sentenceOf(rule)).toContain(
    'escalate after 300 s, then to 1 panel tagged wall after another 900 s,',
  );
  expect(sentenceOf(rule, german)).toContain(
    'nach 300 s eskalieren, nach weiteren 900 s an 1 Anzeige mit Tag wall eskalieren,',
  );
});

test('what somebody typed is never taken for a word of the sentence, nor for a slot in it', () => {
  const nasty = '{{values}} \uE000values\uE000 $t(and) <b>';
  const sentence = ruleSentence({ when: { host: [nasty], title: { contains: nasty } }, then: {} }, english);
  expect(sentence.filter(({ kind }) => kind !== 'word').map(({ text }) => text)).toEqual([
    nasty,
    `“${nasty}”`,
  ]);
});

test('a name tells what a rule is about, and what it does', () => {
  const mute = { then: { mute: true } };
  expect(suggestedName({ when: { host: ['db-1'] }, ...mute }, english)).toBe('Mute db-1');
  expect(suggestedName({ when: { not: { host: ['db-1'] } }, ...mute }, english)).toBe(
    'Mute host is not db-1',
  );
  expect(suggestedName(toNoc, english)).toBe(
    'host matches db-* and level is at least warning → 2 panels tagged noc, show for 5 s',
  );
  expect(suggestedName({ then: { panels: 'none' } }, german)).toBe('alles → keine Anzeige');
});

test('every rule has a sentence and a name that the server takes, in each language', () => {
  fc.assert(
    fc.property(ruleSpec, (rule) => {
      for (const words of [english, german]) {
        expect(sentenceOf(rule, words)).not.toMatch(/undefined|\{\{|\uE000/);
        expect([...suggestedName(rule, words)].length).toBeLessThanOrEqual(100);
        expect(suggestedName(rule, words)).toMatch(/\S/);
      }
    }),
  );
});

describe('why a rule did not match', () => {
  const trace = { id: 'r1', name: 'r', reason: 'in the words of the server' } as const;
  const reasonOf = (
    ...[given, rest, words = english]: [object, Parameters<typeof traceSentence>[2], RuleWords?]
  ) => traceSentence({ ...trace, outcome: 'failed', ...given }, words, rest);

  test('a rule that suppresses the notification says so, in the words of the reader', () => {
    const suppressing = { condition: 'host', suppresses: true };
    const notification = { host: 'web-1' };
    expect(reasonOf(suppressing, { rule: toNoc, notification })).toBe(
      'Not matched: host matches db-* (value: web-1); it suppresses this notification',
    );
    expect(reasonOf(suppressing, {})).toBe('in the words of the server');
  });

  test('the condition that failed is named, and what it looked at', () => {
    const notification = { host: 'web-1', level: 'info' };
    expect(reasonOf({ condition: 'host' }, { rule: toNoc, notification })).toBe(
      'Not matched: host matches db-* (value: web-1)',
    );
    expect(reasonOf({ condition: 'minLevel' }, { rule: toNoc, notification }, german)).toBe(
      'Trifft nicht zu, dass Stufe mindestens warning ist (Wert: info)',
    );
    expect(reasonOf({ condition: 'host' }, { rule: toNoc, notification: { host: null } })).toBe(
      'Not matched: host matches db-* (no value)',
    );
  });

  test('the label that failed is named, and its value', () => {
    const rule: SentenceRule = {
      when: { labels: { env: ['prod'], 'a.b': ['x'] }, not: { labels: { site: ['a'], team: ['b*'] } } },
      then: { mute: true },
    };
    const reason = (condition: string, labels: Record<string, string>, by = rule) =>
      reasonOf({ condition }, { rule: by, notification: { labels } });
    expect(reason('labels.env', { Env: 'test', 'a.b': 'y' })).toBe(
      'Not matched: label env is prod (value: test)',
    );
    expect(reason('labels.a.b', { 'a.b': 'y' })).toBe('Not matched: label a.b is x (value: y)');
    expect(reason('labels.env', {})).toBe('Not matched: label env is prod (no value)');
    expect(reason('not.labels', { site: 'a', team: 'b2', env: 'prod' })).toBe(
      'Not matched: not all of (label site is a, label team matches b*) (value: site=a · team=b2)',
    );
    const single = { when: { not: { labels: { site: ['a'] } } }, then: { mute: true } };
    expect(reason('not.labels', { site: 'a', team: 'b2' }, single)).toBe(
      'Not matched: label site is not a (value: a)',
    );
    expect(reason('labels.other', {})).toBe('in the words of the server');
  });

  test('a rule that is gone or was changed is described in the words of the server', () => {
    expect(reasonOf({ condition: 'host' }, {})).toBe('in the words of the server');
    expect(reasonOf({ condition: 'not.ip' }, { rule: toNoc })).toBe('in the words of the server');
  });

  test('times and the end of the walk are named', () => {
    const now = Date.parse('2026-11-21T12:00:00Z');
    const until = { ...toNoc, activeUntil: '2026-11-21T08:00:00Z' };
    expect(reasonOf({ outcome: 'inactive' }, { rule: until, now })).toBe('Not active since 2026-11-21T08:00');
    expect(reasonOf({ outcome: 'not-tried' }, { rule: toNoc, endedBy: 2 })).toBe(
      'Skipped: rule 2 stopped the evaluation',
    );
    expect(reasonOf({ outcome: 'matched' }, { rule: toNoc })).toBe(
      '2 panels tagged noc, show for 5 s, then stop',
    );
  });
});
