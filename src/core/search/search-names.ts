/** Resolves names in a search to ids of tokens, panels and rules, and to levels. */
import type { AppError } from '../errors.ts';
import type { Ref } from '../ports.ts';
import { literalOf, matchesPattern, patternText } from './search-glob.ts';
import { searchError, shown, type Value } from './search-lexer.ts';
import { offerNearest } from './search-nearest.ts';

/**
 * The ids that the values name. A value is tried as an id, a name, a name without regard to case, and a glob of names, in this
 * order.
 *
 * @throws AppError `bad-request` for a value that names nothing.
 */
export function readIds(
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
export function readLevels(values: readonly Value[], levels: readonly Ranked[]): string[] {
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
