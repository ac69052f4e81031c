import { expect, test } from 'vitest';
import type { Level } from '#contract/routing/level.ts';
import { cardOf } from '#test/support/card-of.ts';
import { type SoundContext, soundFor } from './sound-choice.ts';

const level = (name: string): Level | undefined => {
  const sounds: Record<string, Level['sound']> = { info: 'none', warning: 'chime', critical: 'siren' };
  const sound = sounds[name];
  return sound && { name, rank: 0, builtIn: true, color: '#000000', icon: 'bell', sound, durationMs: 0 };
};
const serverTime = Date.parse('2026-11-20T10:00:05.000Z');
const context: SoundContext = { serverTime, quiet: false, level, known: () => false };
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
