/** One word or one `key:values` of a search becomes a term. */
import { parseAddressRange } from '../addresses.ts';
import { AppError } from '../errors.ts';
import type { SearchContext } from './search-context.ts';
import { literalOf, patternParts, patternText } from './search-glob.ts';
import { searchError, shown, type Value } from './search-lexer.ts';
import { readIds, readLevels } from './search-names.ts';
import { offerNearest } from './search-nearest.ts';
import {
  type AddressPattern,
  type Phrase,
  type SearchState,
  searchStates,
  type Term,
} from './search-query.ts';
import { readAge, readInstant } from './search-time.ts';

type Reader = (values: readonly Value[], context: SearchContext) => Term;

const readers: Readonly<Record<string, Reader>> = {
  ip: (values) => ({ kind: 'ip', ranges: values.map(readAddresses) }),
  source: (values) => ({ kind: 'source', ranges: values.map(readAddresses) }),
  host: (values) => ({ kind: 'host', patterns: values.map((value) => given('host', value).toLowerCase()) }),
  key: (values) => ({ kind: 'key', patterns: values.map((value) => given('key', value)) }),
  level: (values, { levels }) => ({ kind: 'level', names: readLevels(values, levels) }),
  token: (values, { tokens }) => ({ kind: 'token', ids: readIds('token', values, tokens) }),
  rule: (values, { rules }) => ({ kind: 'rule', ids: readIds('rule', values, rules) }),
  panel: (values, { panels }) => ({ kind: 'panel', panels: readPanels(values, panels) }),
  is: (values) => ({ kind: 'is', states: [...new Set(values.map(readState))] }),
  title: (values) => ({ kind: 'text', field: 'title', phrases: values.map(readPhrase) }),
  message: (values) => ({ kind: 'text', field: 'message', phrases: values.map(readPhrase) }),
  // Any of several bounds is the widest of them.
  since: (values, { now }) => ({
    kind: 'after',
    at: Math.min(...values.map((value) => readAge(value, now))),
  }),
  after: (values, context) => ({
    kind: 'after',
    at: Math.min(...values.map((value) => readInstant('after', value, context))),
  }),
  before: (values, context) => ({
    kind: 'before',
    at: Math.max(...values.map((value) => readInstant('before', value, context))),
  }),
};

/** @throws AppError `bad-request` for an unknown key and for a value the key cannot take. */
export function readPair(
  key: string,
  values: readonly Value[],
  column: number,
  context: SearchContext,
): Term {
  if (key === '')
    throw searchError('the key before ":" is missing', column, '; to search for text with a colon, quote it');
  const name = key.toLowerCase();
  const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
  if (!read) {
    const { nearest, clause } = offerNearest(key, Object.keys(readers));
    const hint = nearest.length === 1 ? clause : `${clause}; quote text that holds a colon`;
    const length = [...key].length;
    throw searchError(`unknown key ${shown(key)}`, column, hint, {
      code: 'query.unknown-key',
      length,
      nearest,
    });
  }
  const starred = values.find((value) => value.starred);
  if (starred && name !== 'title' && name !== 'message') {
    throw searchError(
      '"*" after a quote',
      starred.column,
      ' is for text; in a value, put it inside the quotes',
    );
  }
  return read(values, context);
}

/** A free word or phrase. */
export const readText = (value: Value): Term => ({ kind: 'text', field: null, phrases: [readPhrase(value)] });

/**
 * What the index takes for a part of a word: letters, digits and private characters. The few taken out are letters of today
 * that its older tables do not know, of which a phrase would be empty.
 */
export const wordCharacter = /[[\p{L}\p{N}\p{Co}]--[\u19b0-\u19c0\u19c8\u19c9\u1cf2\u1cf3]]/v;

function readPhrase(value: Value): Phrase {
  const parts = value.quoted ? [] : patternParts(value.pattern);
  const prefix = value.starred || parts.at(-1) === '*';
  if (parts.slice(0, -1).includes('*')) {
    throw searchError(
      `${shown(value.pattern)}`,
      value.column,
      ' has "*" inside; in text it can only end a word, as in time*',
      value,
    );
  }
  const whole = patternText(value.pattern);
  const text = prefix && !value.quoted ? whole.slice(0, -1) : whole;
  if (!wordCharacter.test(text)) {
    throw searchError(
      `${shown(whole)}`,
      value.column,
      ' has no letter or digit; text is searched by words',
      value,
    );
  }
  return { text, prefix };
}

/** A value that must not be empty, as quotes allow. */
function given(key: string, value: Value): string {
  if (value.pattern.trim() === '') throw searchError(`a value for "${key}" is missing`, value.column);
  return value.pattern;
}

function readAddresses(value: Value): AddressPattern {
  const text = patternText(value.pattern);
  try {
    return { text, ...parseAddressRange(text) };
  } catch (error) {
    if (error instanceof AppError)
      throw searchError('a bad value', value.column, `: ${error.message}`, value);
    throw error;
  }
}

function readPanels(values: readonly Value[], panels: SearchContext['panels']) {
  const ids = new Set(readIds('panel', values, panels));
  return panels.filter(({ id }) => ids.has(id)).map(({ id, tags }) => ({ id, tags: [...tags] }));
}

function readState(value: Value): SearchState {
  const text = literalOf(value.pattern)?.toLowerCase();
  const state = searchStates.find((name) => name === text);
  if (!state) {
    const typed = patternText(value.pattern);
    const { nearest, clause } = offerNearest(typed, searchStates);
    throw searchError(`unknown state ${shown(typed)} for "is"`, value.column, clause, {
      code: 'query.unknown-value',
      length: value.length,
      nearest,
    });
  }
  return state;
}
