/** A search made narrower, wider or other by a click. */
import { type QueryWord, readWords } from './query-words.ts';

export type RefineKey = 'level' | 'host' | 'ip' | 'source' | 'token' | 'panel' | 'rule' | 'key' | 'is';

/** One condition to add: from a click on a value. */
export interface Refinement {
  readonly key: RefineKey;
  readonly value: string;
  /** Everything but this. */
  readonly negated: boolean;
}

/** A value as it is written in a search, quoted where it must be, standing for itself alone. */
export function quoteValue(value: string): string {
  if (/^[^\s()",\\*?<>=-][^\s()",\\*?]*$/.test(value)) return value;
  return `"${value.replace(/[\\"*?]/g, '\\$&')}"`;
}

export const termOf = ({ key, value, negated }: Refinement): string =>
  `${negated ? '-' : ''}${key}:${quoteValue(value)}`;

/** The search with this condition too. The opposite of it goes; what is there already stays as it is. */
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

/** The text without these words of it, single spaces where they stood. */
export function withoutWords(text: string, words: readonly QueryWord[]): string {
  let rest = text;
  for (const { start, end } of [...words].sort((a, b) => b.start - a.start))
    rest = `${rest.slice(0, start).trimEnd()} ${rest.slice(end).trimStart()}`;
  return rest.trim();
}

/** Both must hold: `OR` binds less than standing side by side, so what has one is put in parentheses. */
export function joinTerm(text: string, term: string): string {
  const trimmed = text.trim();
  if (trimmed === '' || term === '') return trimmed + term;
  const isChoice = readWords(trimmed).some(
    (word) => word.depth === 0 && word.kind === 'operator' && trimmed.slice(word.start, word.end) === 'OR',
  );
  return isChoice ? `(${trimmed}) ${term}` : `${trimmed} ${term}`;
}
