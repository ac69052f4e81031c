/** Reads and writes the time range in a query: the terms `since:`, `after:` and `before:`. */
import { fromDateTimeField, toDateTimeField } from '../formats/wall-clock.ts';
import { joinTerm, type QueryWord, readWords, withoutWords } from './query-words.ts';

export const quickRanges = ['15m', '1h', '24h', '7d', '30d'] as const;

/** The time range of a search; empty means all time. */
export interface TimeRange {
  readonly since?: string;
  readonly after?: string;
  readonly before?: string;
}

const keys = ['since', 'after', 'before'] as const;

function timeWords(text: string): (QueryWord & { key: (typeof keys)[number] })[] {
  return readWords(text).filter(
    (word): word is QueryWord & { key: (typeof keys)[number] } =>
      word.kind === 'pair' && word.depth === 0 && !word.negated && keys.some((key) => key === word.key),
  );
}

/** Reads the time range. Terms in parentheses are ignored, because they restrict only a part of the query. */
export function readTimeRange(text: string): TimeRange {
  const range: { -readonly [K in keyof TimeRange]: TimeRange[K] } = {};
  for (const word of timeWords(text))
    range[word.key] = text.slice(word.valueStart, word.end).replace(/^"(.*)"$/, '$1');
  return range;
}

/** The search with another time range. */
export function withTimeRange(text: string, range: TimeRange): string {
  const terms = keys.flatMap((key) => (range[key] ? [`${key}:${range[key]}`] : []));
  return joinTerm(withoutWords(text, timeWords(text)), terms.join(' '));
}

export const spanRange = (from: number, until: number, timeZone: string): TimeRange => ({
  after: instantText(from, timeZone),
  before: instantText(until, timeZone),
});

const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Parses an age, as in `since:24h`, to milliseconds; undefined when it is not an age. */
export function ageMs(age: string): number | undefined {
  if (!/^(\d{1,9}[smhdw])+$/i.test(age)) return undefined;
  let ms = 0;
  for (const [, count, unit] of age.toLowerCase().matchAll(/(\d+)([smhdw])/g))
    ms += Number(count) * (unitMs[unit as string] as number);
  return ms;
}

/** An age for people, in its own units: 15 min, 24 h, 7 d. */
export function ageText(age: string): string {
  return age
    .toLowerCase()
    .replace(/(\d+)([smhdw])(?=(\d?))/g, (_, count: string, unit: string, more: string) => {
      return `${count}\u00a0${unit === 'm' ? 'min' : unit}${more === '' ? '' : ' '}`;
    });
}

/** Formats an instant for `after:` and `before:`: local time if it is unambiguous, otherwise UTC. */
export function instantText(at: number, timeZone: string): string {
  const wall = toDateTimeField(at, timeZone);
  // Clocks go back by an hour; on Lord Howe Island by half an hour.
  const isRepeated = [-60, -30, 30, 60].some(
    (minutes) => toDateTimeField(at + minutes * 60_000, timeZone) === wall,
  );
  if (!isRepeated && fromDateTimeField(wall, timeZone) === at) return wall;
  return new Date(at).toISOString().replace(/(:00)?\.000Z$/, 'Z');
}
