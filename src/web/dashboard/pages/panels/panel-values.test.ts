import { expect, test } from 'vitest';
import type { DisplaySettings } from '#contract/panels/panel.ts';
import { codeOf, impossibleIn, patchOf, problemsOf, valuesOf } from './panel-values.ts';

const plain = { name: 'NOC', tags: ['noc'], location: null, display: {} };
const everything: DisplaySettings = {
  scheme: 'auto',
  minLevel: 'warning',
  maxCards: 6,
  labels: ['site', 'cluster'],
  scale: 1.25,
  sound: false,
  quietFrom: '22:00',
  quietUntil: '06:00',
  quietDays: ['fri', 'sat'],
  criticalRings: false,
  ringPauseMs: 60_000,
  deleteClears: true,
  dimFrom: '23:00',
  dimUntil: '05:30',
  timeZone: 'Europe/Berlin',
  locale: 'de-CH',
  alertWhenLostMs: 90_000,
};

test('a panel comes out of the form as it went in', () => {
  expect(patchOf(valuesOf(plain))).toEqual(plain);
  const full = { ...plain, location: 'Hall 2', display: everything };
  expect(patchOf(valuesOf(full))).toEqual(full);
});

test('what is emptied is not set any more', () => {
  const values = {
    ...valuesOf({ ...plain, display: everything }),
    timeZone: '',
    maxCards: '',
    scheme: '' as const,
  };
  const { timeZone, maxCards, scheme, ...rest } = everything;
  expect(patchOf(values).display).toEqual(rest);
});

test('days without hours are not set', () => {
  const { quietFrom, quietUntil, quietDays, ...rest } = everything;
  const values = { ...valuesOf({ ...plain, display: everything }), quietFrom: '', quietUntil: '' };
  expect(patchOf(values).display).toEqual(rest);
});

test('each field says what is wrong with it', () => {
  const values = valuesOf(plain);
  expect(problemsOf(values)).toEqual({});
  expect(
    problemsOf({
      ...values,
      name: ' ',
      tags: ['Noc!'],
      maxCards: 101,
      labels: ['9x'],
      scalePercent: 49,
      dimFrom: '22:00',
      locale: 'x_y',
      lostMs: Number.NaN,
      ringPauseMs: 3_600_001,
    }),
  ).toEqual({
    name: 'nameMissing',
    tags: 'tagsWrong',
    maxCards: 'maxCardsWrong',
    labels: 'cardLabelsWrong',
    scalePercent: 'scaleWrong',
    dimUntil: 'windowHalf',
    locale: 'localeWrong',
    lostMs: 'lostWrong',
    ringPauseMs: 'ringPauseWrong',
  });
});

test('a code is read as people type and paste it', () => {
  expect(codeOf('k7m4qx')).toBe('K7M4QX');
  expect(codeOf(' K7M-4QX ')).toBe('K7M4QX');
  expect(codeOf('k7 m4 qx and more')).toBe('K7M4QX');
});

test('a character that no code has is named', () => {
  expect(impossibleIn('K7M4QX')).toBeUndefined();
  expect(impossibleIn('K7M0QX')).toBe('0');
});
