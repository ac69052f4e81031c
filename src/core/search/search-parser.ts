/**
 * Search: the query language of history. `search-lexer.ts` splits the text, `search-parser.ts` and `search-terms.ts` read it to
 * a query, in which names are ids and ages are instants (`search-query.ts`). `search-compile.ts` turns the query into an
 * expression over the terms of the index, which every store can run. `index-terms.ts` is the one definition of these terms, and
 * `search-words.ts` that of words and patterns. Rows that are not indexed yet, and what terms cannot decide, are tested by
 * `search-evaluate.ts`; both ways find the same notifications. An error names the position and the wrong key or value, and
 * suggests a similar one; an unknown key is never searched as a word.
 *
 * The parser makes a {@link Query} of a text, by recursive descent.
 *
 * Terms side by side must all hold; `AND` may be written and binds tighter than `OR`. `-` or `NOT` excludes what follows.
 *
 * We do not use liqe or a Peggy grammar, because neither supports comma lists, comparison of levels or globs in quotes, and neither
 * lets us choose the error messages and their positions.
 */
import { readTokens, searchError, type Token } from './search-lexer.ts';
import { join, type Query } from './search-query.ts';
import { readPair, readText, type SearchContext } from './search-terms.ts';

const maxTerms = 100;
const maxDepth = 20;

/**
 * Parses a search. Names are resolved to ids, and times to instants; an empty search finds everything.
 *
 * @throws AppError `bad-request`, and nothing else whatever the text is. The message names the position and the wrong key or
 * value, and suggests a similar one. An unknown key or value is never treated as a word to search for.
 */
export function parseQuery(text: string, context: SearchContext): Query {
  return new Parser(readTokens(text), context).read();
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #context: SearchContext;
  #at = 0;
  #depth = 0;
  #terms = 0;

  constructor(tokens: readonly Token[], context: SearchContext) {
    this.#tokens = tokens;
    this.#context = context;
  }

  read(): Query {
    if (this.#next.kind === 'end') return { kind: 'all' };
    const query = this.#or();
    if (this.#next.kind === ')')
      throw searchError('")" closes nothing', this.#next.column, '; it has no "("');
    return query;
  }

  get #next(): Token {
    return this.#tokens[this.#at] as Token;
  }

  #or(): Query {
    const terms = [this.#and()];
    while (this.#next.kind === 'OR') {
      this.#at += 1;
      terms.push(this.#and());
    }
    return join('or', terms);
  }

  #and(): Query {
    const terms = [this.#term()];
    for (;;) {
      const { kind } = this.#next;
      if (kind === 'end' || kind === ')' || kind === 'OR') return join('and', terms);
      if (kind === 'AND') this.#at += 1;
      terms.push(this.#term());
    }
  }

  #term(): Query {
    const token = this.#next;
    this.#at += 1;
    switch (token.kind) {
      case '-':
      case 'NOT':
        return negate(this.#nested(token, () => this.#term()));
      case '(':
        return this.#nested(token, () => this.#group(token.column));
      case 'text':
        this.#countTerms(1, token.column);
        return readText(token.value);
      case 'pair':
        this.#countTerms(token.values.length, token.column);
        return readPair(token.key, token.values, token.column, this.#context);
      default:
        throw this.#missingTerm(token);
    }
  }

  #group(column: number): Query {
    const query = this.#or();
    if (this.#next.kind !== ')') throw searchError('"("', column, ' is not closed; add ")"');
    this.#at += 1;
    return query;
  }

  #missingTerm({ kind, column }: Token): Error {
    const before = this.#tokens[this.#at - 2];
    if (kind === 'OR' || kind === 'AND') {
      return searchError(
        `${kind} has nothing before it`,
        column,
        `; write a term on both sides, or "${kind}" in quotes for the word`,
      );
    }
    if (before?.kind === '(' && kind === ')')
      return searchError('the parentheses are empty', before.column, '; quote them to search for them');
    return searchError(`a term is missing${before ? ` after ${before.kind}` : ''}`, column);
  }

  #nested(token: Token, read: () => Query): Query {
    this.#depth += 1;
    if (this.#depth > maxDepth) throw searchError(`more than ${maxDepth} levels of nesting`, token.column);
    const query = read();
    this.#depth -= 1;
    return query;
  }

  #countTerms(terms: number, column: number): void {
    this.#terms += terms;
    if (this.#terms > maxTerms)
      throw searchError(`more than ${maxTerms} terms; the first one too many is`, column);
  }
}

export function negate(query: Query): Query {
  return query.kind === 'not' ? query.term : { kind: 'not', term: query };
}
