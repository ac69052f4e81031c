/**
 * The query language of history: text becomes a {@link Query}.
 *
 * Terms side by side must all hold; `AND` may be written and binds tighter than `OR`. `-` or `NOT` excludes what follows.
 */
import type { PanelAddress, Ref } from '../ports.ts';
import { readTokens } from './search-lexer.ts';
import { Parser } from './search-parser.ts';
import type { Query } from './search-query.ts';

export type { Query } from './search-query.ts';

/** What the names in a search can mean, and when and where it is asked. */
export interface SearchContext {
  readonly now: number;
  /** IANA name: where a date without an offset is. */
  readonly timeZone: string;
  readonly levels: readonly { readonly name: string; readonly rank: number }[];
  readonly panels: readonly (PanelAddress & Ref)[];
  readonly tokens: readonly Ref[];
  readonly rules: readonly Ref[];
}

/**
 * Reads a search. Names become what they name now, times become instants; an empty search asks for everything.
 *
 * @throws AppError `bad-request`, and nothing else whatever the text is. The message names the place and the key or value
 * that is wrong, and offers the nearest that is right: nothing unknown is ever taken for a word to look for.
 */
export function parseQuery(text: string, context: SearchContext): Query {
  return new Parser(readTokens(text), context).read();
}
