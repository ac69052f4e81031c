/** What the server says is wrong with a search, found again in its text. */
import { quoteValue } from './refine.ts';

export interface QueryComplaint {
  /** The server's sentence, without the name of the field. */
  readonly sentence: string;
  /** The place, in UTF-16 units; empty when the server named none. */
  readonly start: number;
  readonly end: number;
  /** What it offers instead, the nearest first. */
  readonly offers: readonly { readonly name: string; readonly text: string }[];
}

const form = /^q: (.*?) at character (\d+)(.*)$/s;
const offersForm = /(?:did you mean|the nearest are|it is one of) (.*)$/s;

/** @returns undefined for an error that is not about the search. */
export function readComplaint(message: string, text: string): QueryComplaint | undefined {
  if (!message.startsWith('q: ')) return undefined;
  const sentence = message.slice(3);
  const [, what = '', column, hint = ''] = form.exec(message) ?? [];
  if (column === undefined) return { sentence, start: 0, end: 0, offers: [] };
  const from = unitsOf(text, Number(column) - 1);
  const { start, end } = spanOf(text, from, what);
  const isKey = what.startsWith('unknown key');
  const offered = offersForm.exec(hint)?.[1] ?? '';
  const names = [...offered.matchAll(/"((?:[^"])*)"/g)].map(([, name]) => name as string);
  const offers = names.map((name) => ({
    name,
    text: text.slice(0, start) + (isKey ? name : quoteValue(name)) + text.slice(end),
  }));
  return { sentence, start, end, offers };
}

/** What the sentence quotes, where it stands from the place on; else the rest of the word there. */
function spanOf(text: string, from: number, what: string): { start: number; end: number } {
  const quoted = /"(.*?)…?"/s.exec(what)?.[1];
  if (quoted) {
    const at = text.indexOf(quoted, from);
    // A value in quotes or behind ">=" begins a little later; anything further is another place.
    if (at >= 0 && at <= from + 2) {
      const inQuotes = text[from] === '"' && at === from + 1 && text[at + quoted.length] === '"';
      return inQuotes ? { start: from, end: at + quoted.length + 1 } : { start: at, end: at + quoted.length };
    }
  }
  const length = /^[^\s,()]+/.exec(text.slice(from))?.[0].length ?? 0;
  // At the very end something is missing: the last character stands for it.
  return length === 0
    ? { start: Math.max(0, Math.min(from, text.length) - 1), end: Math.min(text.length, from + 1) }
    : { start: from, end: from + length };
}

/** How many UTF-16 units the first `characters` characters take. */
function unitsOf(text: string, characters: number): number {
  let units = 0;
  let left = characters;
  for (const character of text) {
    if (left === 0) break;
    units += character.length;
    left -= 1;
  }
  return units;
}
