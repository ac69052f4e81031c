import { expect, test } from 'vitest';
import type { DisplaySettings, SettingsEvent } from '#contract/panels/panel.ts';
import { lookOf } from './look.ts';

const browser = { languages: ['fr-FR'], timeZone: 'Europe/Paris', prefersLight: true };
const settings = (display: DisplaySettings): SettingsEvent => ({
  panel: { id: 'p', name: 'lobby', tags: [], location: null, display },
  tenant: { name: 'default', title: 'Default', timeZone: 'Europe/Berlin' },
  levels: [],
});

test('without anything said it is dark, at its usual size, with sound, in the zone of the tenant', () => {
  expect(lookOf(settings({}), {}, browser)).toEqual({
    scheme: 'dark',
    scale: 1,
    maxCards: undefined,
    labels: [],
    sound: true,
    quiet: undefined,
    dim: undefined,
    timeZone: 'Europe/Berlin',
    locale: 'fr-FR',
    languages: ['fr-FR'],
  });
});

test('the choice at the screen goes before the setting of the panel', () => {
  const display = { scheme: 'light', scale: 2, sound: false, locale: 'en-GB' } as const;
  expect(lookOf(settings(display), {}, browser)).toMatchObject({ scheme: 'light', scale: 2, sound: false });
  expect(
    lookOf(settings(display), { scheme: 'dark', scale: 9, sound: true, language: 'de' }, browser),
  ).toMatchObject({
    scheme: 'dark',
    scale: 4,
    sound: true,
    languages: ['de', 'en-GB', 'fr-FR'],
    locale: 'en-GB',
  });
});

test('the colours of the system, and windows that have both ends', () => {
  expect(
    lookOf(
      settings({ scheme: 'auto', quietFrom: '22:00', dimFrom: '23:00', dimUntil: '05:00' }),
      {},
      browser,
    ),
  ).toMatchObject({ scheme: 'light', quiet: undefined, dim: { from: '23:00', until: '05:00' } });
});
