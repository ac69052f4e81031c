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
 * Parses a search. Names are resolved to ids, and times to instants; an empty search finds everything.
 *
 * @throws AppError `bad-request`, and nothing else whatever the text is. The message names the position and the wrong key or
 * value, and suggests a similar one. An unknown key or value is never treated as a word to search for.
 */
export function parseQuery(text: string, context: SearchContext): Query {
  return new Parser(readTokens(text), context).read();
}
