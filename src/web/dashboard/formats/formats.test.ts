import i18next from 'i18next';
import { expect, test } from 'vitest';
import { durationText } from '#contract/time.ts';
import { actorFrom, actorText, clip, createFormats, durationOf, msOf, shortNameOf } from './formats.ts';

test('in English a duration reads as in the texts of server, command line and panel', () => {
  const formats = createFormats('en', 'UTC');
  const plain = (ms: number) => formats.duration(ms).replaceAll('\u00a0', ' ');
  // Up to a thousand days, where the dashboard begins to group digits.
  for (let ms = 0; ms < 1_000 * 86_400_000; ms = Math.ceil(ms * 1.007 + 1))
    expect(plain(ms)).toBe(durationText(ms));
  for (const ms of [0, 999, 1_000, 59_999, 60_000, 90_000, 3_600_000, 86_400_000, 90_060_000])
    expect(plain(ms)).toBe(durationText(ms));
});

test.each([
  ['en', ['2 s ago', '10 min ago', '9 h ago', '3 days ago', 'in 5 min']],
  ['de', ['vor 2 s', 'vor 10 min', 'vor 9 h', 'vor 3 Tagen', 'in 5 min']],
])('in %s the units of an age are those of a duration', (locale, texts) => {
  const { relative } = createFormats(locale, 'UTC');
  const ages = [-2_000, -600_000, -9 * 3_600_000, -3 * 86_400_000, 300_000];
  expect(ages.map((age) => relative(age, 0).replaceAll('\u00a0', ' '))).toEqual(texts);
});

test('a duration is shown in the largest unit that gives a whole number, and read back', () => {
  for (const [ms, amount, unit] of [
    [15_000, 15, 's'],
    [90_000, 90, 's'],
    [120_000, 2, 'min'],
    [5_400_000, 90, 'min'],
    [604_800_000, 7, 'd'],
    [1_500, 1.5, 's'],
  ] as const) {
    expect(durationOf(ms)).toEqual({ amount, unit });
    expect(msOf(durationOf(ms))).toBe(ms);
  }
});

test('nothing, zero and text are no duration', () => {
  for (const amount of ['', 0, -1, 'x']) expect(msOf({ amount, unit: 'd' })).toBeNaN();
  for (const ms of [0, Number.NaN]) expect(durationOf(ms).amount).toBe('');
});

test('a key or token as author reads in the reader’s language, and is found by what is shown', async () => {
  const texts = {
    'actor.key': 'Schlüssel {{name}}',
    'actor.token': 'Token {{name}}',
    'actor.retention': 'Belfry',
    'actor.cli': 'Befehlszeile',
  };
  await i18next.init({ lng: 'de', keySeparator: false, resources: { de: { translation: texts } } });
  expect(actorText('key on-call bot')).toBe('Schlüssel on-call bot');
  expect(actorText('retention')).toBe('Belfry');
  expect(actorText('cli')).toBe('Befehlszeile');
  for (const actor of [
    'key on-call bot',
    'token ci',
    'cli',
    'retention',
    'ann@example.org',
    'keys@example.org',
  ])
    expect(actorFrom(actorText(actor))).toBe(actor);
});

test.each([
  ['Disk full', 9, 'Disk full'],
  ['Disk is full', 9, 'Disk is f…'],
  // A rule is named after what it mutes, and its name must be whole characters.
  ['Disk 🔥 full', 6, 'Disk …'],
  ['Disk 🔥 full', 7, 'Disk 🔥…'],
])('%s in %i is %s', (text, most, expected) => {
  expect(clip(text, most)).toBe(expected);
});

test.each([
  ['Plant 2, Hall B', 'plant-2-hall-b'],
  ['  Müller & Söhne ', 'mueller-soehne'],
  ['Klinikum Süd', 'klinikum-sued'],
  ['GROẞE STRAßE, Café', 'grosse-strasse-cafe'],
  ['--', ''],
  ['工場', ''],
  [`a${'b'.repeat(80)}`, `a${'b'.repeat(62)}`],
])('the short name of "%s" is "%s"', (title, name) => {
  expect(shortNameOf(title)).toBe(name);
});
