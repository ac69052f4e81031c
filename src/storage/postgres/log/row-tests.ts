/** How PostgreSQL tests a row (the type row_test), so that a node need not read and test those that cannot match. */
import type { Phrase, Query } from '#core/search/search-query.ts';
import { wordsOf } from '#core/search/search-words.ts';
import type { TermExpression } from '#core/search/term-expression.ts';

/** Other letters may be written in several ways: such a text is left to the node. */
const notAscii = '[^\\x01-\\x7f]';
const isAscii = /^[a-z0-9 ]+$/;
/** PostgreSQL keeps some expressions compiled, and would compile more of them anew for each row. */
const mostTests = 8;

/** Every match fits all of them with its title and message, and a space between. Words that the index decides need none. */
export function textTests(query: Query): string[] {
  const tests = new Set<string>();
  for (const term of query.kind === 'and' ? query.terms : [query]) {
    if (term.kind !== 'text' || tests.size === mostTests) continue;
    const phrases = term.phrases.map(expressionOf);
    const isDecided = term.field === null && phrases.every(({ words }) => words.length === 1);
    if (!isDecided && phrases.every(({ words }) => isAscii.test(words.join(' '))))
      tests.add([notAscii, ...phrases.map(({ expression }) => expression)].join('|'));
  }
  return [...tests];
}

function expressionOf({ text, prefix }: Phrase) {
  const words = wordsOf(text);
  const end = prefix ? '' : '(?:$|[^a-z0-9])';
  return { words, expression: `(?:^|[^a-z0-9])${words.join('[^a-z0-9]+')}${end}` };
}

/** Bytes. */
const longestTerm = 2_046;
/** No notification has this term. */
const nothing = "'0.none'";

/** A term expression as the text of a tsquery. */
export function tsqueryOf(terms: TermExpression | undefined): string {
  if (!terms) return nothing;
  switch (terms.kind) {
    case 'term':
      // PostgreSQL takes no longer one, and none is indexed.
      if (Buffer.byteLength(terms.term) > longestTerm) return nothing;
      return `'${terms.term.replace(/['\\]/g, '$&$&')}'${terms.prefix ? ':*' : ''}`;
    case 'without':
      return `(${tsqueryOf(terms.of)} & !${tsqueryOf(terms.not)})`;
    default:
      return `(${terms.of.map(tsqueryOf).join(terms.kind === 'and' ? ' & ' : ' | ')})`;
  }
}
