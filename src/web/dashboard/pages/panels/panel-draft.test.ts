import { expect, test } from 'vitest';
import type { DisplaySettings } from '#contract/panel.ts';
import { draftOf, patchOf, problemsOf } from './panel-draft.ts';

const plain = { name: 'NOC', tags: ['noc'], location: null, display: {} };
const everything: DisplaySettings = {
  scheme: 'auto',
  minLevel: 'warning',
  maxCards: 6,
  scale: 1.25,
  sound: false,
  quietFrom: '22:00',
  quietUntil: '06:00',
  dimFrom: '23:00',
  dimUntil: '05:30',
  timeZone: 'Europe/Berlin',
  locale: 'de-CH',
};

test('a panel comes out of the form as it went in', () => {
  expect(patchOf(draftOf(plain))).toEqual(plain);
  const full = { ...plain, location: 'Hall 2', display: everything };
  expect(patchOf(draftOf(full))).toEqual(full);
});

test('what is emptied is not set any more', () => {
  const draft = {
    ...draftOf({ ...plain, display: everything }),
    timeZone: '',
    maxCards: '',
    scheme: '' as const,
  };
  const { timeZone, maxCards, scheme, ...rest } = everything;
  expect(patchOf(draft).display).toEqual(rest);
});

test('each field says what is wrong with it', () => {
  const draft = draftOf(plain);
  expect(problemsOf(draft)).toEqual({});
  expect(
    problemsOf({
      ...draft,
      name: ' ',
      tags: ['Noc!'],
      maxCards: 101,
      scalePercent: 49,
      dimFrom: '22:00',
      locale: 'x_y',
    }),
  ).toEqual({
    name: 'nameMissing',
    tags: 'tagsWrong',
    maxCards: 'maxCardsWrong',
    scalePercent: 'scaleWrong',
    dimUntil: 'windowHalf',
    locale: 'localeWrong',
  });
});
