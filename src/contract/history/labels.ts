/**
 * Labels are names with values by which senders sort their notifications, as in {"env": "prod", "site": "plant 2"}. Upper and
 * lower case are the same in a name: a notification has `Env` or `env`, not both. Senders and answers have labels as an object.
 * Inside, a notification carries them as one text, the JSON of that object with its names in order, so that equal labels are equal
 * texts; null: it has none.
 */
import { labelNamePattern } from '../limits.ts';

export type Labels = Readonly<Record<string, string>>;

const noLabels: Labels = Object.freeze({});

/** The text of these labels, which must be valid. */
export function labelsText(labels: Labels): string | null {
  const names = Object.keys(labels).sort();
  if (names.length === 0) return null;
  // No name has a character that JSON escapes.
  return `{${names.map((name) => `"${name}":${JSON.stringify(labels[name])}`).join()}}`;
}

/** The labels of a text that {@link labelsText} made. A name may be `constructor`: look values up in {@link labelEntries}. */
export const labelsOf = (text: string | null): Labels =>
  text === null ? noLabels : (JSON.parse(text) as Labels);

export const labelEntries = (text: string | null): readonly (readonly [name: string, value: string])[] =>
  text === null ? [] : Object.entries(labelsOf(text));

/** The label of this name, with its name as it was sent. */
export function findLabel(labels: Labels, name: string): readonly [name: string, value: string] | undefined {
  const wanted = name.toLowerCase();
  return Object.entries(labels).find(([given]) => given.toLowerCase() === wanted);
}

/** A label in one text, as searches have it. */
export const labelPair = (name: string, value: string): string => `${name}=${value}`;

/** Its name with the `=`, as in `env=`; empty if there is none. */
export const labelStart = (pair: string): string => pair.slice(0, pair.indexOf('=') + 1);

/**
 * The labels that the list of a search names, in its order: a name alone stands for any value (`*`), and behind a value, a text without
 * `=` is one more value of its name, as in `env=prod,stage`.
 */
export function listedLabels(texts: readonly string[]): { readonly name: string; readonly value: string }[] {
  let valued: string | undefined;
  return texts.map((text) => {
    const at = text.indexOf('=');
    if (at < 0) return valued === undefined ? { name: text, value: '*' } : { name: valued, value: text };
    valued = text.slice(0, at);
    return { name: valued, value: text.slice(at + 1) };
  });
}

/** Where a rule names a label among fields, as in `label:cluster`. */
export const labelFieldPattern = new RegExp(labelNamePattern.source.replace('^', '^label:'));
export type LabelField = `label:${string}`;
export const isLabelField = (field: string): field is LabelField => field.startsWith('label:');
export const labelOfField = (field: LabelField): string => field.slice('label:'.length);

/** The label with the address of a page that says what to do. */
export const runbookLabel = 'runbook_url';

/** What {@link runbookLabel} has, if it is an http or https link; any sender may set it. */
export function runbookOf({ [runbookLabel]: url = '' }: Labels): string | undefined {
  return /^https?:\/\/[^\s/]\S*$/i.test(url) ? url : undefined;
}

/** {@link runbookOf} a notification, which has its labels as a text. */
export const runbookLinkOf = ({ labels }: { readonly labels: string | null }): string | undefined =>
  runbookOf(labelsOf(labels));

/** `env=prod · site=plant 2`, for people. */
export const shownLabels = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => labelPair(name, value))
    .join(' · ');

/**
 * The labels in `env=prod, site=plant 2`, as headers and forms have them: the first `=` ends a name. undefined: it cannot be read,
 * or has a name twice.
 */
export function readLabels(text: string): Labels | undefined {
  const labels = new Map<string, string>();
  for (const part of text.split(',')) {
    if (part.trim() === '') continue;
    const at = part.indexOf('=');
    const name = part.slice(0, at).trim();
    if (at < 0 || labels.has(name)) return undefined;
    labels.set(name, part.slice(at + 1).trim());
  }
  return Object.fromEntries(labels);
}
