/** The fields of a panel's settings, and their problems. */

import { limits } from '#contract/limits.ts';
import { type ButtonSetting, buttonSettings } from '#contract/panels/buttons.ts';
import type { DisplaySettings, Panel, PanelPatch } from '#contract/panels/panel.ts';
import { weekdays } from '#contract/time.ts';
import { isWithin } from '#web/dashboard/fields/limits.ts';

type Weekday = (typeof weekdays)[number];

const [usualButtons] = buttonSettings;

/** An empty field is "not set". */
export interface PanelValues {
  readonly name: string;
  readonly tags: readonly string[];
  readonly location: string;
  readonly scheme: '' | 'dark' | 'light' | 'auto';
  readonly minLevel: string;
  readonly maxCards: number | string;
  readonly labels: readonly string[];
  readonly scalePercent: number | string;
  readonly sound: boolean;
  readonly actions: ButtonSetting;
  readonly deleteClears: boolean;
  /** 0: nothing is sent. */
  readonly lostMs: number;
  readonly quietFrom: string;
  readonly quietUntil: string;
  /** All, or those on which the quiet hours begin. */
  readonly quietDays: readonly Weekday[];
  readonly criticalRings: boolean;
  /** 0: none. */
  readonly ringPauseMs: number;
  readonly dimFrom: string;
  readonly dimUntil: string;
  readonly timeZone: string;
  readonly locale: string;
}

type Editable = Pick<Panel, 'name' | 'tags' | 'location' | 'display'>;

export function valuesOf({ name, tags, location, display }: Editable): PanelValues {
  return {
    name,
    tags,
    location: location ?? '',
    scheme: display.scheme ?? '',
    minLevel: display.minLevel ?? '',
    maxCards: display.maxCards ?? '',
    labels: display.labels ?? [],
    scalePercent: display.scale === undefined ? '' : Math.round(display.scale * 100),
    sound: display.sound ?? true,
    actions: display.actions ?? usualButtons,
    deleteClears: display.deleteClears ?? false,
    lostMs: display.alertWhenLostMs ?? 0,
    quietFrom: display.quietFrom ?? '',
    quietUntil: display.quietUntil ?? '',
    quietDays: display.quietDays ?? weekdays,
    criticalRings: display.criticalRings ?? true,
    ringPauseMs: display.ringPauseMs ?? 0,
    dimFrom: display.dimFrom ?? '',
    dimUntil: display.dimUntil ?? '',
    timeZone: display.timeZone ?? '',
    locale: display.locale ?? '',
  };
}

/** Display settings are replaced as a whole: an empty field unsets its setting. */
export function patchOf(values: PanelValues): PanelPatch {
  const { scheme, minLevel, maxCards, labels, scalePercent, sound, actions, lostMs } = values;
  const { deleteClears, quietFrom, quietDays: days, criticalRings, ringPauseMs } = values;
  const texts = ['quietFrom', 'quietUntil', 'dimFrom', 'dimUntil', 'timeZone', 'locale'] as const;
  const display: DisplaySettings = {
    ...(scheme !== '' && { scheme }),
    ...(minLevel !== '' && { minLevel }),
    ...(maxCards !== '' && { maxCards: Number(maxCards) }),
    ...(labels.length > 0 && { labels: [...labels] }),
    ...(scalePercent !== '' && { scale: Number(scalePercent) / 100 }),
    ...(!sound && { sound }),
    ...(actions !== usualButtons && { actions }),
    ...(deleteClears && { deleteClears }),
    ...(quietFrom !== '' &&
      days.length < weekdays.length && { quietDays: weekdays.filter((day) => days.includes(day)) }),
    ...(!criticalRings && { criticalRings }),
    ...(ringPauseMs !== 0 && { ringPauseMs }),
    ...(lostMs !== 0 && { alertWhenLostMs: lostMs }),
    ...Object.fromEntries(
      texts.flatMap((key) => (values[key].trim() === '' ? [] : [[key, values[key].trim()]])),
    ),
  };
  const location = values.location.trim();
  return {
    name: values.name.trim(),
    tags: [...values.tags],
    location: location === '' ? null : location,
    display,
  };
}

/** By field, as the key of its text; empty if it can be saved. */
export function problemsOf(values: PanelValues) {
  const { name, tags, maxCards, labels, scalePercent, lostMs, ringPauseMs, locale } = values;
  const isHalf = (from: string, until: string) => (from === '') !== (until === '');
  return {
    ...(name.trim() === '' && { name: 'nameMissing' as const }),
    ...(!tags.every(isTag) && { tags: 'tagsWrong' as const }),
    ...(maxCards !== '' && !isWithin(maxCards, 1, 100) && { maxCards: 'maxCardsWrong' as const }),
    ...(!labels.every((label) => limits.labelNamePattern.test(label)) && {
      labels: 'cardLabelsWrong' as const,
    }),
    ...(scalePercent !== '' && !isWithin(scalePercent, 50, 400) && { scalePercent: 'scaleWrong' as const }),
    ...(!(lostMs === 0 || (lostMs >= 5_000 && lostMs <= 604_800_000)) && { lostMs: 'lostWrong' as const }),
    ...(isHalf(values.quietFrom, values.quietUntil) && { quietUntil: 'windowHalf' as const }),
    ...(values.quietDays.length === 0 && { quietDays: 'quietDaysNone' as const }),
    ...(!(ringPauseMs === 0 || (ringPauseMs >= 1_000 && ringPauseMs <= 3_600_000)) && {
      ringPauseMs: 'ringPauseWrong' as const,
    }),
    ...(isHalf(values.dimFrom, values.dimUntil) && { dimUntil: 'windowHalf' as const }),
    ...(!isLocale(locale) && { locale: 'localeWrong' as const }),
  };
}

function isLocale(text: string): boolean {
  try {
    return text.trim() === '' || Intl.getCanonicalLocales(text.trim()).length === 1;
  } catch {
    return false;
  }
}

/** The server's form of a tag. */
const pattern = /^[a-z0-9][a-z0-9_.-]{0,31}$/;

export const isTag = (text: string): boolean => pattern.test(text);

/** All tags of the panels. */
export function knownTags(panels: readonly { readonly tags: readonly string[] }[]): string[] {
  return [...new Set(panels.flatMap(({ tags }) => tags))].sort();
}

/** Pairing codes as the server draws them: no characters that look alike, and no words. */
const alphabet = '2346789BCDFGHJKMNPQRTVWXYZ';
export const codeChars = 6;

/** What was typed or pasted as a code: in capitals, without spaces and dashes, no longer than a code is. */
export function codeOf(typed: string): string {
  return typed
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '')
    .slice(0, codeChars);
}

/** The first character that no code has. */
export const impossibleIn = (code: string): string | undefined =>
  [...code].find((char) => !alphabet.includes(char));

export const isWholeCode = (code: string): boolean =>
  code.length === codeChars && impossibleIn(code) === undefined;
