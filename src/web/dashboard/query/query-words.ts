/**
 * A search's text in words, to highlight, complete and change it. Any text is accepted: the server decides what a search
 * means, and whether it is valid.
 */
import { ApiError, isCode } from '#client/call.ts';
import type { ValueKey } from '#contract/history/fields.ts';
import { searchKeyName } from '#contract/history/search-key.ts';

export interface QueryWord {
  readonly kind: 'pair' | 'text' | 'operator' | 'open' | 'close';
  /** The range in the text, with the minus, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** A minus stands before it. */
  readonly negated: boolean;
  /** How many parentheses are open around it. */
  readonly depth: number;
  /** Of a pair, in lower case; `is` also for `state`. */
  readonly key: string;
  /** Where a pair's values begin; elsewhere `start`, behind the minus. */
  readonly valueStart: number;
}

export interface QueryPiece {
  readonly text: string;
  readonly tone: 'plain' | 'key' | 'operator';
}

const operators = ['OR', 'AND', 'NOT'];
const isSpace = (character: string | undefined) => character !== undefined && /\s/.test(character);
const endsWord = (character: string | undefined) =>
  character === undefined || isSpace(character) || character === '(' || character === ')';

export function readWords(text: string): QueryWord[] {
  const words: QueryWord[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; ) {
    if (isSpace(text[at])) {
      at += 1;
      continue;
    }
    const start = at;
    const negated = text[at] === '-' && !isSpace(text[at + 1]) && at + 1 < text.length;
    const from = negated ? at + 1 : at;
    const parenthesis = text[from];
    if (parenthesis === '(' || parenthesis === ')') {
      if (parenthesis === ')') depth = Math.max(0, depth - 1);
      const kind = parenthesis === '(' ? 'open' : 'close';
      words.push({ kind, start, end: from + 1, negated, depth, key: '', valueStart: from });
      if (parenthesis === '(') depth += 1;
      at = from + 1;
      continue;
    }
    const word = readWord(text, from);
    words.push({ ...word, start, negated, depth });
    at = word.end;
  }
  return words;
}

function readWord(text: string, from: number): Pick<QueryWord, 'kind' | 'end' | 'key' | 'valueStart'> {
  let colon = -1;
  let at = from;
  while (!endsWord(text[at])) {
    if (text[at] === '"') at = afterQuote(text, at);
    else {
      if (text[at] === ':' && colon < 0) colon = at;
      at += text[at] === '\\' && at + 1 < text.length ? 2 : 1;
    }
  }
  const end = Math.max(at, from + 1);
  const quote = text.indexOf('"', from);
  if (colon >= 0 && (quote < 0 || quote > colon))
    return { kind: 'pair', end, key: searchKeyName(text.slice(from, colon)), valueStart: colon + 1 };
  const kind = operators.includes(text.slice(from, end)) ? 'operator' : 'text';
  return { kind, end, key: '', valueStart: from };
}

function afterQuote(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === '\\') i += 1;
    else if (text[i] === '"') return i + 1;
  }
  return text.length;
}

/** The whole text in pieces for highlighting: keys, operators, and the rest. */
export function tokenizeQuery(text: string): QueryPiece[] {
  const pieces: QueryPiece[] = [];
  let done = 0;
  const add = (until: number, tone: QueryPiece['tone']) => {
    if (until > done) pieces.push({ text: text.slice(done, until), tone });
    done = Math.max(done, until);
  };
  for (const word of readWords(text)) {
    add(word.start, 'plain');
    if (word.negated) add(word.start + 1, 'operator');
    if (word.kind === 'pair') {
      add(word.valueStart, 'key');
      add(word.valueStart + (/^[<>]?=?/.exec(text.slice(word.valueStart))?.[0].length ?? 0), 'operator');
    }
    add(word.end, word.kind === 'pair' || word.kind === 'text' ? 'plain' : 'operator');
  }
  add(text.length, 'plain');
  return pieces;
}

export type RefineKey = ValueKey | 'level' | 'is';

/** A condition to add to a search. */
export interface Refinement {
  readonly key: RefineKey;
  readonly value: string;
  /** Excludes the value. */
  readonly negated: boolean;
}

/** A value as written in a search: quoted if necessary, without wildcards. */
export function quoteValue(value: string): string {
  if (/^[^\s()",\\*?<>=-][^\s()",\\*?]*$/.test(value)) return value;
  return `"${value.replace(/[\\"*?]/g, '\\$&')}"`;
}

export const termOf = ({ key, value, negated }: Refinement): string =>
  `${negated ? '-' : ''}${key}:${quoteValue(value)}`;

/** Adds a condition; its opposite is removed. */
export function refine(text: string, refinement: Refinement): string {
  const term = termOf(refinement);
  const opposite = termOf({ ...refinement, negated: !refinement.negated });
  const outer = readWords(text).filter(({ depth }) => depth === 0);
  if (outer.some((word) => text.slice(word.start, word.end) === term)) return text.trim();
  const cleaned = withoutWords(
    text,
    outer.filter((word) => text.slice(word.start, word.end) === opposite),
  );
  return joinTerm(cleaned, term);
}

/** Removes words from the text. */
export function withoutWords(text: string, words: readonly QueryWord[]): string {
  let rest = text;
  for (const { start, end } of [...words].sort((a, b) => b.start - a.start))
    rest = `${rest.slice(0, start).trimEnd()} ${rest.slice(end).trimStart()}`;
  return rest.trim();
}

/** Adds a term that must hold too: a text with `OR` needs parentheses. */
export function joinTerm(text: string, term: string): string {
  const trimmed = text.trim();
  if (trimmed === '' || term === '') return trimmed + term;
  const isChoice = readWords(trimmed).some(
    (word) => word.depth === 0 && word.kind === 'operator' && trimmed.slice(word.start, word.end) === 'OR',
  );
  return isChoice ? `(${trimmed}) ${term}` : `${trimmed} ${term}`;
}

/** Reads the server's error about a search and its position in the query text. */

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
