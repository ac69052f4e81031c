import { expect, test } from 'vitest';
import type { Level } from '#contract/routing/level.ts';
import { cardOf } from '#test/support/card-of.ts';
import { RepeatedSound } from './repeated-sound.ts';

const level = (name: string): Level | undefined => {
  const of = { name, rank: 0, builtIn: true, color: '#000000', icon: 'bell', durationMs: 0 } as const;
  if (name === 'critical') return { ...of, sound: 'siren', repeatMs: 60_000 };
  if (name === 'error') return { ...of, sound: 'alert', repeatMs: 1 };
  return { ...of, sound: 'chime' };
};
const critical = cardOf({ id: 'c', level: 'critical', rank: 50 });
const error = cardOf({ id: 'e', level: 'error', rank: 40 });
const warning = cardOf({ id: 'w', level: 'warning', rank: 30 });
const seen = cardOf({
  id: 'c',
  level: 'critical',
  rank: 50,
  acknowledged: { at: '', by: 'ada', note: null },
});

/** The sounds of a page that looks every half second, with the seconds at which they were played. */
function played(cardsAt: (second: number) => (typeof critical)[], seconds: number, minRank = 0): string[] {
  const repeated = new RepeatedSound();
  const sounds: string[] = [];
  for (let now = 0; now <= seconds * 1_000; now += 500) {
    const chosen = repeated.next(cardsAt(now / 1_000), { now, level, minRank });
    if (chosen) sounds.push(`${now / 1_000} ${chosen.sound}`);
  }
  return sounds;
}

test('a sound is played again every so often until somebody acknowledges, and only of levels that say so', () => {
  expect(played((second) => (second < 130 ? [critical, warning] : [seen]), 300)).toEqual([
    '60 siren',
    '120 siren',
  ]);
  expect(played(() => [warning], 300)).toEqual([]);
});

test('it is at least five seconds apart, ends with the card, and the most serious is heard', () => {
  expect(played((second) => (second < 12 ? [error] : []), 60)).toEqual(['5 alert', '10 alert']);
  expect(played((second) => (second >= 55 && second < 61 ? [error, critical] : [critical]), 61)).toEqual([
    '60 siren',
  ]);
  expect(played(() => [error], 60, 50)).toEqual([]);
});
