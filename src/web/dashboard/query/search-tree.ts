/** A search as a tree, to make something else of it. Its meaning is that of the server's parser (`core/search/search-parser.ts`). */
import { labelPair, listedLabels } from '#contract/history/labels.ts';
import { type QueryWord, readWords } from './query-words.ts';

export interface SearchValue {
  /** Without quotes and backslashes; `*` and `?` are as typed. A label always has its name and a value, as in `env=*`. */
  readonly text: string;
  readonly hasWildcard: boolean;
  /** A backslash makes a `*` or `?` an ordinary character. */
  readonly hasLiteral: boolean;
  readonly isQuoted: boolean;
}

export interface SearchTerm {
  readonly kind: 'term';
  /** '' of words and phrases. */
  readonly key: string;
  /** One of them must be found. */
  readonly values: readonly SearchValue[];
  /** As typed. */
  readonly text: string;
}

export type SearchTree =
  | SearchTerm
  | { readonly kind: 'and' | 'or'; readonly of: readonly SearchTree[]; readonly text: string }
  | { readonly kind: 'not'; readonly of: SearchTree; readonly text: string };

/** @returns undefined for an empty search, and for one that the server refuses because of its form. */
export function readTree(q: string): SearchTree | undefined {
  const words = readWords(q);
  let at = 0;
  const start = () => words[at]?.start ?? q.length;
  const textFrom = (from: number) => q.slice(from, words[at - 1]?.end ?? q.length);
  const isNext = (name: string) =>
    words[at]?.kind === 'operator' && q.slice(words[at]?.start, words[at]?.end) === name;
  const ends = () => at >= words.length || (words[at]?.kind === 'close' && words[at]?.negated === false);

  const list = (kind: 'and' | 'or', next: () => SearchTree | undefined, goesOn: () => boolean) => {
    const from = start();
    const of: SearchTree[] = [];
    do {
      const part = next();
      if (!part) return undefined;
      of.push(part);
    } while (goesOn());
    const [first] = of;
    return of.length === 1 ? first : { kind, of, text: textFrom(from) };
  };
  const skip = (name: string) => {
    const found = isNext(name);
    if (found) at += 1;
    return found;
  };
  const anyOf = (): SearchTree | undefined => list('or', allOf, () => skip('OR'));
  const allOf = (): SearchTree | undefined =>
    list('and', part, () => skip('AND') || !(ends() || isNext('OR')));
  const part = (): SearchTree | undefined => {
    const word = words[at];
    const from = start();
    if (!word) return undefined;
    at += 1;
    let found: SearchTree | undefined;
    if (word.kind === 'open') {
      found = anyOf();
      if (!found || !ends() || at >= words.length) return undefined;
      at += 1;
      if (!word.negated) return { ...found, text: textFrom(from) };
    } else if (word.kind === 'operator') {
      if (word.negated || q.slice(word.start, word.end) !== 'NOT') return undefined;
      found = part();
      return found && { kind: 'not', of: found, text: textFrom(from) };
    } else {
      found = word.kind === 'close' ? undefined : termOf(q, word);
    }
    return found && word.negated ? { kind: 'not', of: found, text: textFrom(from) } : found;
  };
  const tree = anyOf();
  return at < words.length ? undefined : tree;
}

function termOf(q: string, word: QueryWord): SearchTerm | undefined {
  const from = word.negated ? word.start + 1 : word.start;
  // A second minus would exclude what the first one excludes.
  if (q[from] === '-') return undefined;
  const values = readValues(
    q.slice(word.valueStart > from ? word.valueStart : from, word.end),
    word.kind === 'pair',
  );
  if (!values) return undefined;
  const { key } = word;
  return {
    kind: 'term',
    key,
    values: key === 'label' ? wholeLabels(values) : values,
    text: q.slice(from, word.end),
  };
}

const wholeLabels = (values: readonly SearchValue[]): SearchValue[] =>
  listedLabels(values.map(({ text }) => text)).map(({ name, value }, i) => ({
    ...(values[i] as SearchValue),
    text: labelPair(name, value),
  }));

/** The characters that a backslash makes literal; before others it is a character itself. */
const isEscapable = (character: string | undefined) =>
  character !== undefined && /[!-/:-@[-`{-~\s]/.test(character);

/** The values between commas; of a word or phrase, the one. undefined if a value is missing, or a quote is not closed. */
function readValues(typed: string, isList: boolean): SearchValue[] | undefined {
  const values: SearchValue[] = [];
  let at = 0;
  do {
    const isQuoted = typed[at] === '"';
    if (isQuoted) at += 1;
    const value = { text: '', hasWildcard: false, hasLiteral: false, isQuoted };
    const isEnd = () => at >= typed.length || (isQuoted ? typed[at] === '"' : isList && typed[at] === ',');
    for (; !isEnd(); at += 1) {
      const isEscape = typed[at] === '\\' && isEscapable(typed[at + 1]);
      if (isEscape) at += 1;
      const isSign = typed[at] === '*' || typed[at] === '?';
      value.text += typed[at];
      if (isSign) value[isEscape ? 'hasLiteral' : 'hasWildcard'] = true;
    }
    if (isQuoted && typed[at] !== '"') return undefined;
    if (isQuoted) at += 1;
    // `"a phrase"*`: its last word may go on.
    if (isQuoted && typed[at] === '*') at += 1;
    if (value.text.trim() === '') return undefined;
    values.push(value);
    at += 1;
  } while (typed[at - 1] === ',');
  return at <= typed.length ? undefined : values;
}
