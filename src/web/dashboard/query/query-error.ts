/** Reads the server's error about a search and its position in the query text. */
import { ApiError, isCode } from '#client/api-error.ts';
import { quoteValue } from './query-words.ts';

export interface QueryError {
  /** What does not exist, where that and its place say all: a key, or a value with suggestions. */
  readonly unknown?: 'key' | 'value';
  /** The server's sentence, without the name of the field. */
  readonly sentence: string;
  /** The position in UTF-16 units; `start` equals `end` if the server gave none. */
  readonly start: number;
  readonly end: number;
  /** Suggested corrections of the whole text, the nearest first. */
  readonly suggestions: readonly { readonly name: string; readonly text: string }[];
}

/** @returns undefined for an error that is not about the search. */
export function readQueryError(error: unknown, text: string): QueryError | undefined {
  if (!(error instanceof ApiError) || !error.code?.startsWith('query.')) return undefined;
  const { at, length, nearest = [] } = error.place;
  const sentence = error.messageAfter('q');
  if (at === undefined) return { sentence, start: 0, end: 0, suggestions: [] };
  const from = unitsOf(text, at - 1);
  const { start, end } =
    length === undefined ? wordAt(text, from) : { start: from, end: unitsOf(text, at - 1 + length) };
  const isKey = isCode(error, 'query.unknown-key');
  const suggestions = nearest.map((name) => ({
    name,
    text: text.slice(0, start) + (isKey ? name : quoteValue(name)) + text.slice(end),
  }));
  const isValue = isCode(error, 'query.unknown-value') && nearest.length > 0;
  const isUnknown = (isKey || isValue) && end > start;
  return { ...(isUnknown && { unknown: isKey ? 'key' : 'value' }), sentence, start, end, suggestions };
}

function wordAt(text: string, from: number): { start: number; end: number } {
  const length = /^[^\s,()]+/.exec(text.slice(from))?.[0].length ?? 0;
  // At the end of the text the last character is marked.
  return length === 0
    ? { start: Math.max(0, Math.min(from, text.length) - 1), end: Math.min(text.length, from + 1) }
    : { start: from, end: from + length };
}

/** How many UTF-16 units the first `characters` characters take. */
const unitsOf = (text: string, characters: number): number => [...text].slice(0, characters).join('').length;
