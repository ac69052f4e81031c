/** A panel's settings while somebody edits them, and what is wrong with them. */
import type { DisplaySettings, PanelPatch } from '#contract/panel.ts';

/** As the fields of the form have them: empty is "not set". */
export interface PanelDraft {
  readonly name: string;
  readonly tags: readonly string[];
  readonly location: string;
  readonly scheme: '' | 'dark' | 'light' | 'auto';
  readonly minLevel: string;
  readonly maxCards: number | string;
  readonly scalePercent: number | string;
  readonly sound: boolean;
  readonly quietFrom: string;
  readonly quietUntil: string;
  readonly dimFrom: string;
  readonly dimUntil: string;
  readonly timeZone: string;
  readonly locale: string;
}

export type PanelProblem =
  | 'nameMissing'
  | 'tagsWrong'
  | 'maxCardsWrong'
  | 'scaleWrong'
  | 'windowHalf'
  | 'localeWrong';

interface Editable {
  readonly name: string;
  readonly tags: readonly string[];
  readonly location: string | null;
  readonly display: DisplaySettings;
}

export function draftOf({ name, tags, location, display }: Editable): PanelDraft {
  return {
    name,
    tags,
    location: location ?? '',
    scheme: display.scheme ?? '',
    minLevel: display.minLevel ?? '',
    maxCards: display.maxCards ?? '',
    scalePercent: display.scale === undefined ? '' : Math.round(display.scale * 100),
    sound: display.sound ?? true,
    quietFrom: display.quietFrom ?? '',
    quietUntil: display.quietUntil ?? '',
    dimFrom: display.dimFrom ?? '',
    dimUntil: display.dimUntil ?? '',
    timeZone: display.timeZone ?? '',
    locale: display.locale ?? '',
  };
}

/** Display settings are replaced as a whole: what is empty is not set any more. */
export function patchOf(draft: PanelDraft): PanelPatch {
  const { scheme, minLevel, maxCards, scalePercent, sound } = draft;
  const texts = ['quietFrom', 'quietUntil', 'dimFrom', 'dimUntil', 'timeZone', 'locale'] as const;
  const display: DisplaySettings = {
    ...(scheme !== '' && { scheme }),
    ...(minLevel !== '' && { minLevel }),
    ...(maxCards !== '' && { maxCards: Number(maxCards) }),
    ...(scalePercent !== '' && { scale: Number(scalePercent) / 100 }),
    ...(!sound && { sound }),
    ...Object.fromEntries(
      texts.flatMap((key) => (draft[key].trim() === '' ? [] : [[key, draft[key].trim()]])),
    ),
  };
  const location = draft.location.trim();
  return {
    name: draft.name.trim(),
    tags: [...draft.tags],
    location: location === '' ? null : location,
    display,
  };
}

/** By field; none when it can be saved. */
export function problemsOf(draft: PanelDraft): Partial<Record<keyof PanelDraft, PanelProblem>> {
  const within = (value: number | string, least: number, most: number) =>
    value === '' || (Number.isInteger(Number(value)) && Number(value) >= least && Number(value) <= most);
  return {
    ...(draft.name.trim() === '' && { name: 'nameMissing' }),
    ...(!draft.tags.every(isTag) && { tags: 'tagsWrong' }),
    ...(!within(draft.maxCards, 1, 100) && { maxCards: 'maxCardsWrong' }),
    ...(!within(draft.scalePercent, 50, 400) && { scalePercent: 'scaleWrong' }),
    ...((draft.quietFrom === '') !== (draft.quietUntil === '') && { quietUntil: 'windowHalf' }),
    ...((draft.dimFrom === '') !== (draft.dimUntil === '') && { dimUntil: 'windowHalf' }),
    ...(!isLocale(draft.locale) && { locale: 'localeWrong' }),
  };
}

function isLocale(text: string): boolean {
  try {
    return text.trim() === '' || Intl.getCanonicalLocales(text.trim()).length === 1;
  } catch {
    return false;
  }
}

/** As the server wants a tag. */
const pattern = /^[a-z0-9][a-z0-9_.-]{0,31}$/;

export const isTag = (text: string): boolean => pattern.test(text);

/** Tags that panels have, each once. */
export function knownTags(panels: readonly { readonly tags: readonly string[] }[]): string[] {
  return [...new Set(panels.flatMap(({ tags }) => tags))].sort();
}
