/** Reads one word, phrase or `key:values` of a search. */
import {
  mapPatternFields,
  type PatternFieldName,
  type SearchKey,
  searchForm,
} from '#contract/history/fields.ts';
import { labelPair, listedLabels } from '#contract/history/labels.ts';
import { searchKeyName } from '#contract/history/search-key.ts';
import { limits } from '#contract/limits.ts';
import { parseAddressRange } from '../addresses.ts';
import { AppError } from '../errors.ts';
import type { Ref } from '../log/route.ts';
import type { PanelAddress } from '../log/target.ts';
import { zoneOffset } from '../time/time.ts';
import { searchError, shown, type Value } from './search-lexer.ts';
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
import {
  literalOf,
  matchesPattern,
  type Pattern,
  patternParts,
  patternText,
  wordCharacter,
} from './search-words.ts';

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
  label: (values) => ({ kind: 'label', patterns: readLabels(values) }),
  level: (values, { levels }) => ({ kind: 'level', names: readLevels(values, levels) }),
  token: (values, { tokens }) => ({ kind: 'token', ids: readIds('token', values, tokens) }),
  rule: (values, { rules }) => ({ kind: 'rule', ids: readIds('rule', values, rules) }),
  panel: readPanels,
  is: readStates,
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
  const name = searchKeyName(key);
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

function readLabels(values: readonly Value[]): Pattern[] {
  return listedLabels(values.map((value) => given('label', value))).map(({ name, value }, i) => {
    const typed = values[i] as Value;
    if (!limits.labelNamePattern.test(name)) {
      throw searchError(
        `${shown(name)} is no name of a label`,
        typed.column,
        '; write a name, or a name and a value, as in label:env=prod or label:env=stag*',
        typed,
      );
    }
    return searchForm('label', labelPair(name, value));
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

/** `open`: live and not acknowledged. `ended`: expired or cleared. */
function readStates(values: readonly Value[]): Query {
  const named = values.map(readState);
  const plain = named.flatMap((state): readonly SearchState[] => {
    if (state === 'ended') return ['expired', 'cleared'];
    return state === 'open' ? [] : [state];
  });
  const states: Query[] = plain.length > 0 ? [{ kind: 'is', states: [...new Set(plain)] }] : [];
  return join('or', named.includes('open') ? [...states, open] : states);
}

const open: Query = {
  kind: 'and',
  terms: [
    { kind: 'is', states: ['live'] },
    { kind: 'not', term: { kind: 'is', states: ['acknowledged'] } },
  ],
};

const stateNames = [...searchStates, 'open', 'ended'] as const;

function readState(value: Value): (typeof stateNames)[number] {
  const text = literalOf(value.pattern)?.toLowerCase();
  const state = stateNames.find((name) => name === text);
  if (!state) {
    const typed = patternText(value.pattern);
    const { nearest, clause } = offerNearest(typed, stateNames);
    throw searchError(`unknown state ${shown(typed)} for "is"`, value.column, clause, {
      code: 'query.unknown-value',
      length: value.length,
      nearest,
    });
  }
  return state;
}

/** Resolves names in a search to ids of tokens, panels and rules, and to levels. */

/**
 * The ids that the values name. A value is tried as an id, a name, a name without regard to case, and a glob of names, in this
 * order.
 *
 * @throws AppError `bad-request` for a value that names nothing.
 */
function readIds(
  what: 'token' | 'panel' | 'rule',
  values: readonly Value[],
  known: readonly Ref[],
): string[] {
  return [...new Set(values.flatMap((value) => idsOf(what, value, known)))];
}

function idsOf(what: string, { pattern, column, length }: Value, known: readonly Ref[]): string[] {
  const text = patternText(pattern);
  const folded = text.toLowerCase();
  const isGlob = literalOf(pattern) === undefined;
  const foldedPattern = pattern.toLowerCase();
  const ways: ((ref: Ref) => boolean)[] = [
    ({ id }) => id === text,
    ({ name }) => name === text,
    ({ name }) => name.toLowerCase() === folded,
    ({ name }) => isGlob && matchesPattern(foldedPattern, name.toLowerCase()),
  ];
  for (const way of ways) {
    const found = known.filter(way);
    if (found.length > 0) return found.map(({ id }) => id);
  }
  const names = known.map(({ name }) => name);
  const { nearest, clause } = offerNearest(text, names);
  const problem = isGlob ? `no ${what} has a name like ${shown(text)}` : `unknown ${what} ${shown(text)}`;
  throw searchError(problem, column, names.length === 0 ? `; there are no ${what}s yet` : clause, {
    code: 'query.unknown-value',
    length,
    nearest,
  });
}

type Ranked = { readonly name: string; readonly rank: number };

const comparisons: Readonly<Record<string, (rank: number, than: number) => boolean>> = {
  '>=': (rank, than) => rank >= than,
  '<=': (rank, than) => rank <= than,
  '>': (rank, than) => rank > than,
  '<': (rank, than) => rank < than,
};

/**
 * The names of the levels for values such as `error`, `=error` and `>=warning` (by rank).
 *
 * @throws AppError `bad-request` for an unknown level, and for a comparison that no level passes.
 */
function readLevels(values: readonly Value[], levels: readonly Ranked[]): string[] {
  return [...new Set(values.flatMap((value) => levelsOf(value, levels)))];
}

function levelsOf(value: Value, levels: readonly Ranked[]): string[] {
  const text = patternText(value.pattern);
  const [, operator = '', typed = ''] = /^([<>]=?|=)?\s*(.*)$/s.exec(text) ?? [];
  const name = typed.toLowerCase();
  const level = levels.find((known) => known.name === name);
  if (!level) throw unknownLevel(value, typed, levels);
  const passes = comparisons[operator];
  if (!passes) return [level.name];
  const found = levels.filter(({ rank }) => passes(rank, level.rank)).sort((a, b) => a.rank - b.rank);
  if (found.length === 0) {
    const side = operator === '>' ? 'above' : 'below';
    throw searchError(`no level ranks ${side} ${shown(level.name)}: ${shown(text)}`, value.column);
  }
  return found.map((known) => known.name);
}

/** The position is that of the name, after the comparison operator. */
function unknownLevel(value: Value, typed: string, levels: readonly Ranked[]): AppError {
  const problem = typed === '' ? 'the name of a level is missing' : `unknown level ${shown(typed)}`;
  const { nearest, clause } = offerNearest(
    typed,
    levels.map(({ name }) => name),
  );
  const length = [...typed].length;
  const column = value.column + value.length - length - (value.quoted ? 1 : 0);
  return searchError(problem, column, clause, { code: 'query.unknown-value', length, nearest });
}

/** Times in a search: ages, dates, and dates with a time, in a time zone or with an offset. */

const unitMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
/** The last instant with a year of four digits. */
const lastInstant = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const dayMs = 86_400_000;

/** `now` minus an age such as 90s, 2h or 1d12h; not before 1970. */
function readAge({ pattern, column, length }: Value, now: number): number {
  const text = patternText(pattern);
  const age = text.toLowerCase();
  if (!/^(\d{1,9}[smhdw])+$/.test(age)) {
    throw searchError(
      `"since" cannot be ${shown(text)}`,
      column,
      `; write an age such as 30s, 15m, 2h, 7d or 1w`,
      { length },
    );
  }
  let ms = 0;
  for (const [, count, unit] of age.matchAll(/(\d+)([smhdw])/g))
    ms += Number(count) * (unitMs[unit as string] as number);
  return clamp(now - ms);
}

const clamp = (instant: number) => Math.min(lastInstant, Math.max(0, instant));

interface Parts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly ms: number;
}

const dateForm = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](.+))?$/i;
const timeForm = /^(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?$/i;

/**
 * The instant a value names: 2026-11-01 (its first moment), 2026-11-01T10:00, 2026-11-01T10:00:30.5Z, …+02:00, or 10:00 today.
 * Without an offset it is the wall clock of `timeZone`; a time skipped in spring is moved behind the gap, and of a repeated time
 * in autumn the first is used.
 */
function readInstant(
  key: string,
  { pattern, column, length }: Value,
  { now, timeZone }: { now: number; timeZone: string },
): number {
  const text = patternText(pattern);
  const [, year, month, day, rest] = dateForm.exec(text) ?? [];
  const [time, hour, minute, second, fraction, offset] =
    timeForm.exec(year === undefined ? text : (rest ?? '00:00')) ?? [];
  if (time === undefined || literalOf(pattern) === undefined) {
    const example =
      'write 2026-11-01, 2026-11-01T10:00, 2026-11-01T10:00Z, 2026-11-01T10:00+02:00 or 10:00 for today';
    throw searchError(`"${key}" cannot be ${shown(text)}`, column, `; ${example}`, { length });
  }
  const shiftMs = offset === undefined ? undefined : offsetMs(offset);
  const today = new Date(now + (shiftMs ?? zoneOffset(now, timeZone)));
  const parts: Parts = {
    year: year === undefined ? today.getUTCFullYear() : Number(year),
    month: month === undefined ? today.getUTCMonth() + 1 : Number(month),
    day: day === undefined ? today.getUTCDate() : Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second ?? 0),
    ms: fraction === undefined ? 0 : Number(fraction.slice(0, 3).padEnd(3, '0')),
  };
  const wall = wallTime(parts);
  if (wall === undefined || (shiftMs !== undefined && Math.abs(shiftMs) > dayMs)) {
    throw searchError(`${shown(text)}`, column, ' is no day and time that exists', { length });
  }
  return clamp(shiftMs === undefined ? fromWallTime(wall, timeZone) : wall - shiftMs);
}

/** A wall time as if it were UTC; undefined for 30 February and 25:00. */
function wallTime({ year, month, day, hour, minute, second, ms }: Parts): number | undefined {
  // Date.UTC interprets years below 100 as 19xx.
  const date = new Date(Date.UTC(2000, 0, 1, hour, minute, second, ms));
  date.setUTCFullYear(year, month - 1, day);
  const fits = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return fits && hour < 24 && minute < 60 && second < 60 ? date.getTime() : undefined;
}

function offsetMs(text: string): number {
  if (/^z$/i.test(text)) return 0;
  const digits = text.slice(1).replace(':', '').padEnd(4, '0');
  const ms = Number(digits.slice(0, 2)) * 3_600_000 + Number(digits.slice(2)) * 60_000;
  return text.startsWith('-') ? -ms : ms;
}

function fromWallTime(wall: number, timeZone: string): number {
  const before = zoneOffset(wall - dayMs, timeZone);
  const after = zoneOffset(wall + dayMs, timeZone);
  const fitting = [before, after].filter((offset) => zoneOffset(wall - offset, timeZone) === offset);
  return wall - (fitting.length > 0 ? Math.max(...fitting) : before);
}
