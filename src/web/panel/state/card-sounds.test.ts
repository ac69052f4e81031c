import { expect, test } from 'vitest';
import type { Level } from '#contract/routing/level.ts';
import { cardOf } from '#test/support/card-of.ts';
import { joinedBy, RepeatedSound, type SoundContext, soundFor } from './card-sounds.ts';

const level = (name: string): Level | undefined => {
  const sounds: Record<string, Level['sound']> = { info: 'none', warning: 'chime', critical: 'siren' };
  const sound = sounds[name];
  return sound && { name, rank: 0, builtIn: true, color: '#000000', icon: 'bell', sound, durationMs: 0 };
};
const serverTime = Date.parse('2026-11-20T10:00:05.000Z');
const context: SoundContext = { serverTime, quiet: false, level, known: () => false, joins: () => false };
const info = cardOf({ level: 'info', rank: 20 });
const warning = cardOf({ level: 'warning', rank: 30 });
const critical = cardOf({ level: 'critical', rank: 50 });

test('cards that come together make one sound, that of the most serious', () => {
  expect(soundFor([info, critical, warning], context)).toEqual({ sound: 'siren', rank: 50 });
  expect(soundFor([info], context)).toBeUndefined();
});

test('in quiet hours only the most serious is heard', () => {
  expect(soundFor([warning], { ...context, quiet: true })).toBeUndefined();
  expect(soundFor([warning, critical], { ...context, quiet: true })).toEqual({ sound: 'siren', rank: 50 });
});

test('what is old or was here before rings no bell', () => {
  expect(soundFor([critical], { ...context, serverTime: serverTime + 60_000 })).toBeUndefined();
  expect(soundFor([critical], { ...context, known: () => true })).toBeUndefined();
});

test('a card that joins similar ones is not heard, a new kind and a higher level are', () => {
  const peers = [1, 2, 3].map((n) =>
    cardOf({ id: `p${n}`, title: `BGP peer ${n} lost`, rank: 30, level: 'warning' }),
  );
  const joining = cardOf({ id: 'p4', title: 'BGP peer 4 lost', rank: 30, level: 'warning' });
  const higher = cardOf({ id: 'p5', title: 'BGP peer 5 lost', rank: 50, level: 'critical' });
  const other = cardOf({ id: 'o', title: 'Fan stopped', rank: 30, level: 'warning' });
  const added = [joining, higher, other];
  const joins = joinedBy(added, [...peers, ...added]);
  expect(added.map(joins)).toEqual([true, false, false]);
  expect(soundFor([joining], { ...context, joins })).toBeUndefined();
  expect(soundFor([other], { ...context, joins })).toEqual({ sound: 'chime', rank: 30 });
  expect(joinedBy([joining], peers.slice(0, 1))(joining)).toBe(false);
});

const repeatingLevel = (name: string): Level | undefined => {
  const of = { name, rank: 0, builtIn: true, color: '#000000', icon: 'bell', durationMs: 0 } as const;
  if (name === 'critical') return { ...of, sound: 'siren', repeatMs: 60_000 };
  if (name === 'error') return { ...of, sound: 'alert', repeatMs: 1 };
  return { ...of, sound: 'chime' };
};
const sirenCard = cardOf({ id: 'c', level: 'critical', rank: 50 });
const error = cardOf({ id: 'e', level: 'error', rank: 40 });
const chimeCard = cardOf({ id: 'w', level: 'warning', rank: 30 });
const seen = cardOf({
  id: 'c',
  level: 'critical',
  rank: 50,
  acknowledged: { at: '', by: 'ada', note: null, until: null },
});

/** The sounds of a page that looks every half second, with the seconds at which they were played. */
function played(cardsAt: (second: number) => (typeof sirenCard)[], seconds: number, minRank = 0): string[] {
  const repeated = new RepeatedSound();
  const sounds: string[] = [];
  for (let now = 0; now <= seconds * 1_000; now += 500) {
    const chosen = repeated.next(cardsAt(now / 1_000), { now, level: repeatingLevel, minRank });
    if (chosen) sounds.push(`${now / 1_000} ${chosen.sound}`);
  }
  return sounds;
}

test('a sound is played again every so often until somebody acknowledges, and only of levels that say so', () => {
  expect(played((second) => (second < 130 ? [sirenCard, chimeCard] : [seen]), 300)).toEqual([
    '60 siren',
    '120 siren',
  ]);
  expect(played(() => [chimeCard], 300)).toEqual([]);
});

test('it is at least five seconds apart, ends with the card, and the most serious is heard', () => {
  expect(played((second) => (second < 12 ? [error] : []), 60)).toEqual(['5 alert', '10 alert']);
  expect(played((second) => (second >= 55 && second < 61 ? [error, sirenCard] : [sirenCard]), 61)).toEqual([
    '60 siren',
  ]);
  expect(played(() => [error], 60, 50)).toEqual([]);
});

test('similar cards are repeated as one, however they came, and a higher one of them has its own time', () => {
  const peers = Array.from({ length: 50 }, (_, n) =>
    cardOf({ id: `p${n}`, title: `BGP peer ${n} lost`, level: 'critical', rank: 50 }),
  );
  const arriving = (second: number) => peers.slice(0, 1 + Math.floor(second));
  expect(played(arriving, 180)).toEqual(['60 siren', '120 siren', '180 siren']);
  const lower = cardOf({ id: 'l', title: 'BGP peer 99 lost', level: 'error', rank: 40 });
  expect(played((second) => (second < 8 ? [lower] : [lower, ...peers]), 70)).toEqual(['5 alert', '68 siren']);
});

test('different kinds are repeated at least five seconds apart, the most serious first', () => {
  const kinds = ['Fan stopped', 'Door open', 'Disk full', 'Queue stuck'].map((title, n) =>
    cardOf({ id: title, title, level: n === 3 ? 'critical' : 'error', rank: n === 3 ? 50 : 40 }),
  );
  const sounds = played((second) => kinds.slice(0, 1 + Math.floor(second)), 70);
  expect(sounds.slice(0, 3)).toEqual(['5 alert', '10 alert', '15 alert']);
  expect(sounds.slice(-3)).toEqual(['60 alert', '65 siren', '70 alert']);
});
