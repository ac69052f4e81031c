/** Reads one word, phrase or `key:values` of a search. */
import {
  mapPatternFields,
  type PatternFieldName,
  type SearchKey,
  searchForm,
} from '#contract/history/fields.ts';
import { parseAddressRange } from '../addresses.ts';
import { AppError } from '../errors.ts';
import type { Ref } from '../ports.ts';
import type { PanelAddress } from '../target.ts';
import { literalOf, patternParts, patternText } from './search-glob.ts';
import { searchError, shown, type Value } from './search-lexer.ts';
import { readIds, readLevels } from './search-names.ts';
import { offerNearest } from './search-nearest.ts';
import {
  type AddressPattern,
  join,
  type Phrase,
  type Query,
  type SearchState,
  searchStates,
  type Term,
} from './search-query.ts';
import { readAge, readInstant } from './search-time.ts';
import { wordCharacter } from './search-words.ts';

/** A panel as it was when it was deleted. */
export interface DeletedPanel extends PanelAddress, Ref {
  readonly deletedAt: number;
}

/**
 * Everything outside the query text that its meaning depends on: the time, the time zone, and the names it may use. Levels and
 * rules include deleted ones that history still refers to; rules are also listed under their former names.
 */
export interface SearchContext {
  readonly now: number;
  /** IANA name of the time zone for dates without an offset. */
  readonly timeZone: string;
  readonly levels: readonly { readonly name: string; readonly rank: number }[];
  readonly panels: readonly (PanelAddress & Ref)[];
  readonly deletedPanels: readonly DeletedPanel[];
  readonly tokens: readonly Ref[];
  readonly rules: readonly Ref[];
}

type Reader = (values: readonly Value[], context: SearchContext) => Query;

const readers: Readonly<Record<SearchKey, Reader>> = {
  ip: (values) => ({ kind: 'ip', ranges: values.map(readAddresses) }),
  source: (values) => ({ kind: 'source', ranges: values.map(readAddresses) }),
  ...mapPatternFields(readerOf),
  level: (values, { levels }) => ({ kind: 'level', names: readLevels(values, levels) }),
  token: (values, { tokens }) => ({ kind: 'token', ids: readIds('token', values, tokens) }),
  rule: (values, { rules }) => ({ kind: 'rule', ids: readIds('rule', values, rules) }),
  panel: readPanels,
  is: (values) => ({ kind: 'is', states: [...new Set(values.map(readState))] }),
  title: (values) => ({ kind: 'text', field: 'title', phrases: values.map(readPhrase) }),
  message: (values) => ({ kind: 'text', field: 'message', phrases: values.map(readPhrase) }),
  // Several values mean any of them, so the widest bound counts.
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

/** @throws AppError `bad-request` for an unknown key and for an invalid value. */
export function readPair(
  key: string,
  values: readonly Value[],
  column: number,
  context: SearchContext,
): Query {
  if (key === '')
    throw searchError('the key before ":" is missing', column, '; to search for text with a colon, quote it');
  const name = key.toLowerCase();
  const read = Object.hasOwn(readers, name) ? readers[name as SearchKey] : undefined;
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

/** A free word or phrase. @throws AppError `bad-request` for a comparison of levels without its colon. */
export function readText(value: Value): Term {
  const text = patternText(value.pattern);
  const [, comparison] = (!value.quoted && /^level([<>].*)/i.exec(text)) || [];
  if (comparison !== undefined)
    throw searchError(`${shown(text)}`, value.column, ` lacks a colon; write level:${comparison}`, value);
  return { kind: 'text', field: null, phrases: [readPhrase(value)] };
}

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

function readerOf(field: PatternFieldName): Reader {
  return (values) => ({
    kind: field,
    patterns: values.map((value) => searchForm(field, given(field, value))),
  });
}

/** Requires a value that is not empty, because quotes allow an empty one. */
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

/** A deleted panel was not reached after its deletion; of several, the last deletion counts. */
function readPanels(values: readonly Value[], { panels, deletedPanels }: SearchContext): Query {
  const ids = new Set(readIds('panel', values, [...panels, ...deletedPanels]));
  const isMeant = ({ id }: { readonly id: string }) => ids.has(id);
  const existing = panels.filter(isMeant);
  const deleted = deletedPanels.filter(isMeant);
  const arms: Query[] = [];
  if (existing.length > 0) arms.push({ kind: 'panel', panels: existing.map(toAddress) });
  if (deleted.length > 0) {
    const at = Math.max(...deleted.map(({ deletedAt }) => deletedAt));
    arms.push(
      join('and', [
        { kind: 'panel', panels: deleted.map(toAddress) },
        { kind: 'before', at },
      ]),
    );
  }
  return join('or', arms);
}

const toAddress = ({ id, tags }: PanelAddress): PanelAddress => ({ id, tags: [...tags] });

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
