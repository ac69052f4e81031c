/**
 * The query language of history: text becomes a {@link Query}.
 *
 * Terms side by side must all hold; `AND` may be written and binds tighter than `OR`. `-` or `NOT` excludes what follows.
 */
import type { SearchContext } from './search-context.ts';
import { readTokens } from './search-lexer.ts';
import { Parser } from './search-parser.ts';
import type { Query } from './search-query.ts';

/**
 * Reads a search. Names become what they name now, times become instants; an empty search asks for everything.
 *
 * @throws AppError `bad-request`, and nothing else whatever the text is. The message names the place and the key or value
 * that is wrong, and offers the nearest that is right: nothing unknown is ever taken for a word to look for.
 */
export function parseQuery(text: string, context: SearchContext): Query {
  return new Parser(readTokens(text), context).read();
}
