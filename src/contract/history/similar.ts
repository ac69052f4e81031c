/**
 * Similar notifications: those whose titles say the same once numbers, hosts and addresses are taken out, or that agree in what
 * their rule groups by (`then.group`). A wall, a list or a mail shows many of them as one. Groups are made where they are shown;
 * nothing stores them.
 */
import { findLabel, isLabelField, type LabelField, type Labels, labelOfField, labelPair } from './labels.ts';

/** By what a rule groups, beside labels. `title` is its similar form. */
export const groupFields = ['title', 'host', 'ip', 'key', 'level'] as const;
/** A field of {@link groupFields}, or a label, as in `label:cluster`. */
export type GroupField = (typeof groupFields)[number] | LabelField;
/** Of one rule. */
export const maxGroupFields = 5;

/** What a notification must have to be compared. */
export interface Titled {
  readonly title: string;
  readonly host: string | null;
  readonly ip: string | null;
}

/** What it has besides, if its rule says by what it is grouped. */
export interface Grouped extends Titled {
  readonly group?: readonly GroupField[];
  readonly level?: string;
  readonly key?: string | null;
  readonly labels?: Labels;
}

/** Only the beginning of a title is compared: titles have at most 250 characters, but whoever calls may not know that. */
const comparedChars = 300;
/** A word with a digit, a name with a dot or an at sign inside, or a path: db-01, eth0/1, 10.0.0.5, a.example.org, ada@example, /var. */
const changing = /\p{Nd}|[\p{L}\p{N}][.@\\][\p{L}\p{N}]|:\/\/|^\/\p{L}/u;
/** Scripts without spaces between words: in them, a number or a name ends where the script begins again. */
const unspaced =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+/gu;

/**
 * Equal for similar notifications: what their rule groups by agrees. Without such a rule, or if the notification has nothing of
 * what it names, their titles are similar.
 */
export function kindOf(given: Grouped): string {
  const { group } = given;
  const values = group?.map((field) => comparedValue(given, field));
  return values?.some((value) => value !== null) ? JSON.stringify([group, values]) : titleKindOf(given);
}

/** The value in a notification, as people read it; null: it has none. */
export function groupedValue({ host, ip, key, level, labels = {}, title }: Grouped, field: GroupField) {
  if (!isLabelField(field)) return { host, ip, key, level, title }[field] ?? null;
  const found = findLabel(labels, labelOfField(field));
  return found ? labelPair(...found) : null;
}

/** What notifications of a kind have in common: their title, unless they have several, and what their rule groups them by. */
export function kindHeading(
  titles: readonly string[],
  given: Grouped,
  wordOf: (level: string) => string = (level) => level,
): string {
  const values = (given.group ?? []).flatMap((field) => {
    if (field === 'title') return [];
    return field === 'level' ? wordOf(given.level ?? '') : (groupedValue(given, field) ?? []);
  });
  return [...(titles.length === 1 ? titles : []), ...values].join(' · ');
}

/** Labels and hosts are compared as rules do: upper and lower case are the same. */
function comparedValue(given: Grouped, field: GroupField): string | null {
  if (field === 'title') return titleKindOf(given);
  const value = groupedValue(given, field);
  if (value === null) return null;
  if (isLabelField(field)) return value.slice(value.indexOf('=')).toLowerCase();
  return field === 'host' ? value.toLowerCase() : value;
}

/**
 * Equal for similar titles: the words, with `#` where others have another number or name. A title that has no other word is
 * similar only to the same title, because it does not say what happened.
 */
export function titleKindOf(given: Titled): string {
  const words = wordsOf(given);
  if (!words.some(isKept)) return given.title.slice(0, comparedChars);
  return words.map(({ bare }) => bare).join(' ');
}

/** The title that similar notifications have in common, with `…` where they differ; its own title if nothing is left. */
export function commonTitle(given: Titled): string {
  const words = wordsOf(given);
  const kept = words.flatMap((word, i) => (isKept(word) ? [i] : []));
  if (kept.length === 0) return given.title;
  return words
    .slice(kept[0], (kept.pop() ?? 0) + 1)
    .map(({ bare, word }) => (bare === '#' ? '…' : word))
    .join(' ');
}

const isKept = ({ bare }: { readonly bare: string }) => bare !== '#';

/** The words of the title without the punctuation around them, and `#` for those that change. */
function wordsOf({ title, host, ip }: Titled): { readonly word: string; readonly bare: string }[] {
  const own = new Set([host, host?.split('.', 1)[0], ip].flatMap((name) => name?.toLowerCase() ?? []));
  const kept: { word: string; bare: string }[] = [];
  for (const word of title.slice(0, comparedChars).replace(unspaced, ' $& ').split(/\s+/u)) {
    // Signs such as arrows and `<` are no punctuation: they may be all that differs.
    const bare = word.toLowerCase().replace(/^\p{P}+|\p{P}+$/gu, '');
    if (bare === '') continue;
    const isChanging = own.has(bare) || changing.test(word);
    // Several names in a row count as one, because their number may differ, too.
    if (!isChanging) kept.push({ word, bare });
    else if (kept[kept.length - 1]?.bare !== '#') kept.push({ word, bare: '#' });
  }
  return kept;
}
