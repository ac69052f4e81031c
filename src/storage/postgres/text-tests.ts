/** Regular expressions by which PostgreSQL leaves out texts that cannot match, so that a node need not read and test them. */
import type { Phrase, Query } from '#core/search/search-query.ts';
import { wordsOf } from '#core/search/search-words.ts';

/** Every match fits all of them: its title, or its title and message with a space between. */
export interface TextTests {
  readonly inTitle: readonly string[];
  readonly inText: readonly string[];
}

/** Other letters may be written in several ways: such a text is left to the node. */
const notAscii = '[^\\x01-\\x7f]';
const isAscii = /^[a-z0-9 ]+$/;
/** PostgreSQL keeps some expressions compiled, and would compile more of them anew for each row. */
const mostTests = 8;

/** The tests for a query; words that the index decides need none. */
export function textTests(query: Query): TextTests {
  const tests = { inTitle: [] as string[], inText: [] as string[] };
  for (const term of query.kind === 'and' ? query.terms : [query]) {
    if (term.kind !== 'text') continue;
    const phrases = term.phrases.map(expressionOf);
    const isDecided = term.field === null && phrases.every(({ words }) => words.length === 1);
    if (isDecided || !phrases.every(({ words }) => isAscii.test(words.join(' ')))) continue;
    const test = [notAscii, ...phrases.map(({ expression }) => expression)].join('|');
    const list = tests[term.field === 'title' ? 'inTitle' : 'inText'];
    if (list.length < mostTests && !list.includes(test)) list.push(test);
  }
  return tests;
}

function expressionOf({ text, prefix }: Phrase) {
  const words = wordsOf(text);
  const end = prefix ? '' : '(?:$|[^a-z0-9])';
  return { words, expression: `(?:^|[^a-z0-9])${words.join('[^a-z0-9]+')}${end}` };
}
