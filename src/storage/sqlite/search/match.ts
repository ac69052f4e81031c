/** What of a query the full-text index can answer, as an expression of FTS5. */
import type { Phrase, Query, Term } from '../../../core/search/search-query.ts';
import type { WordReader } from './words.ts';

type TextTerm = Extract<Term, { kind: 'text' }>;

/** The phrase in double quotes is words to FTS5, whatever characters it holds. */
function phraseMatch({ text, prefix }: Phrase, field: TextTerm['field']): string {
  const phrase = `"${text.replaceAll('"', '""')}"${prefix ? ' *' : ''}`;
  return field === null ? phrase : `${field} : ${phrase}`;
}

/** Whether the query is of text alone, and says what to look for. */
export function isMatchable(query: Query): boolean {
  switch (query.kind) {
    case 'text':
      return true;
    case 'or':
      return query.terms.every(isMatchable);
    case 'and':
      return (
        query.terms.some(isMatchable) &&
        query.terms.every((term) => isMatchable(term.kind === 'not' ? term.term : term))
      );
    default:
      return false;
  }
}

/** The expression that finds exactly what a matchable query asks for. */
export function matchOf(query: Query): string {
  switch (query.kind) {
    case 'text':
      return anyOf(query.phrases.map((phrase) => phraseMatch(phrase, query.field)));
    case 'or':
      return anyOf(query.terms.map(matchOf));
    case 'and': {
      const wanted = query.terms.filter((term) => term.kind !== 'not').map(matchOf);
      const unwanted = query.terms.flatMap((term) => (term.kind === 'not' ? [matchOf(term.term)] : []));
      return unwanted.reduce((match, excluded) => `(${match} NOT ${excluded})`, `(${wanted.join(' AND ')})`);
    }
    default:
      throw new Error(`"${query.kind}" is not text`);
  }
}

const anyOf = (matches: readonly string[]) =>
  matches.length === 1 ? (matches[0] as string) : `(${matches.join(' OR ')})`;

/** Whether finding it means reading every word that starts alike, which costs the same for one result as for all. */
export function hasPrefix(query: Query): boolean {
  switch (query.kind) {
    case 'text':
      return query.phrases.some(({ prefix }) => prefix);
    case 'and':
    case 'or':
      return query.terms.some(hasPrefix);
    case 'not':
      return hasPrefix(query.term);
    default:
      return false;
  }
}

/**
 * The single words that whatever is found holds all of: how many there can be is bounded by the rarest. Empty when the query
 * has alternatives, or no whole word.
 */
export function wordsOf(query: Query, reader: WordReader): Query[] {
  if (query.kind === 'and') return query.terms.flatMap((term) => wordsOf(term, reader));
  if (query.kind !== 'text' || query.phrases.length !== 1) return [];
  const [{ text, prefix }] = query.phrases as [Phrase];
  const words = reader.words(text);
  return (prefix ? words.slice(0, -1) : words).map((word) => ({
    ...query,
    phrases: [{ text: word, prefix: false }],
  }));
}
