/** Splits a history search into tokens: operators, keys with their values, words and phrases, with their positions. */
import type { ErrorPlace } from '#contract/error-header.ts';
import type { ErrorCode } from '#contract/errors.ts';
import { limits } from '#contract/limits.ts';
import { AppError } from '../errors.ts';
import type { Pattern } from './search-words.ts';

/** A value of a key, or a free word or phrase. */
export interface Value {
  /** Wildcards as typed, in quotes too; what a backslash made literal is escaped. */
  readonly pattern: Pattern;
  readonly quoted: boolean;
  /** `"a phrase"*`: an asterisk right after the closing quote. */
  readonly starred: boolean;
  /** 1-based, in characters. */
  readonly column: number;
  /** As typed, in characters. */
  readonly length: number;
}

export type Token =
  | { readonly kind: '(' | ')' | '-' | 'OR' | 'AND' | 'NOT' | 'end'; readonly column: number }
  | { readonly kind: 'text'; readonly value: Value; readonly column: number }
  | {
      readonly kind: 'pair';
      readonly key: string;
      readonly values: readonly Value[];
      readonly column: number;
    };

/** Further details of a search error, for programs. */
interface SearchProblem extends Pick<ErrorPlace, 'length' | 'nearest'> {
  readonly code?: ErrorCode;
}

/** Creates a search error; all have the form `q: <what> at character <column><hint>`. */
export const searchError = (
  what: string,
  column: number,
  hint = '',
  { code = 'query.invalid', length, nearest }: SearchProblem = {},
) =>
  new AppError(code, `q: ${what} at character ${column}${hint}`, {
    place: { at: column, ...(length !== undefined && { length }), ...(nearest && { nearest }) },
  });

/** A typed text, shortened for an error message. */
export function shown(text: string): string {
  const characters = [...text];
  return `"${characters.length > 60 ? `${characters.slice(0, 60).join('')}…` : text}"`;
}

/** @throws AppError `bad-request` for a search that is too long, contains invalid characters, or has an unclosed quote. */
export function readTokens(text: string): Token[] {
  const characters = text.length > 2 * limits.queryChars ? undefined : [...text];
  if (!characters || characters.length > limits.queryChars) {
    throw new AppError('query.invalid', `q: a search has at most ${limits.queryChars} characters`);
  }
  const bad = characters.findIndex((character) => character === '\0' || !character.isWellFormed());
  if (bad >= 0) throw searchError('U+0000 and halves of surrogate pairs are not allowed; found one', bad + 1);
  return new Lexer(characters).read();
}

const isSpace = (character: string | undefined) => character !== undefined && /\s/.test(character);
const endsWord = (character: string | undefined) =>
  character === undefined || isSpace(character) || character === '(' || character === ')';
/** The characters that a backslash escapes. Before others it is an ordinary character, as in "C:\logs". */
const isEscapable = (character: string | undefined) =>
  character !== undefined && /[!-/:-@[-`{-~\s]/.test(character);

class Lexer {
  readonly #characters: readonly string[];
  #at = 0;

  constructor(characters: readonly string[]) {
    this.#characters = characters;
  }

  read(): Token[] {
    const tokens: Token[] = [];
    for (;;) {
      while (isSpace(this.#peek())) this.#at += 1;
      const token = this.#token();
      tokens.push(token);
      if (token.kind === 'end') return tokens;
    }
  }

  #peek(): string | undefined {
    return this.#characters[this.#at];
  }

  get #column(): number {
    return this.#at + 1;
  }

  #token(): Token {
    const column = this.#column;
    const character = this.#peek();
    if (character === undefined) return { kind: 'end', column };
    if (character === '(' || character === '-') {
      this.#at += 1;
      if (character === '-' && (isSpace(this.#peek()) || this.#peek() === undefined)) {
        throw searchError(
          '"-" stands alone',
          column,
          '; put it right before what it excludes, as in -host:db-01',
        );
      }
      return { kind: character, column };
    }
    if (character === ')') {
      this.#at += 1;
      if (!endsWord(this.#peek()) || this.#peek() === '(')
        throw searchError('a space is missing', this.#column);
      return { kind: ')', column };
    }
    return character === '"' ? this.#phrase(column) : this.#word(column);
  }

  #phrase(column: number): Token {
    const value = this.#quoted();
    this.#expectEndOfWord();
    return { kind: 'text', value, column };
  }

  /** An unquoted word: an operator, `key:values`, or free text. */
  #word(column: number): Token {
    const raw = this.#bare((character) => character === ':');
    if (this.#peek() === ':') {
      this.#at += 1;
      const values = this.#values(raw.typed);
      this.#expectEndOfWord();
      return { kind: 'pair', key: raw.typed, values, column };
    }
    this.#expectEndOfWord();
    if (raw.typed === 'OR' || raw.typed === 'AND' || raw.typed === 'NOT') return { kind: raw.typed, column };
    return {
      kind: 'text',
      value: { pattern: raw.pattern, quoted: false, starred: false, column, length: raw.length },
      column,
    };
  }

  #values(key: string): Value[] {
    const values: Value[] = [];
    do {
      if (values.length > 0) this.#at += 1;
      const column = this.#column;
      if (this.#peek() === '"') {
        values.push(this.#quoted());
        continue;
      }
      const { pattern, length } = this.#bare((character) => character === ',');
      if (pattern === '') throw searchError(`a value for ${shown(key)} is missing`, column);
      values.push({ pattern, quoted: false, starred: false, column, length });
    } while (this.#peek() === ',');
    return values;
  }

  /** Reads up to white space, a parenthesis, a quote, or a character for which `stops` is true. */
  #bare(stops: (character: string) => boolean): { pattern: Pattern; typed: string; length: number } {
    const from = this.#at;
    let pattern = '';
    let typed = '';
    for (
      let character = this.#peek();
      character !== undefined && !endsWord(character);
      character = this.#peek()
    ) {
      if (character === '"' || stops(character)) break;
      const literal = character === '\\' ? this.#escape() : undefined;
      pattern += literal ?? character;
      typed += literal ?? character;
      if (literal === undefined) this.#at += 1;
    }
    return { pattern, typed, length: this.#at - from };
  }

  #quoted(): Value {
    const column = this.#column;
    let pattern = '';
    this.#at += 1;
    for (let character = this.#peek(); character !== '"'; character = this.#peek()) {
      if (character === undefined) throw searchError('the quote', column, ' is not closed; add " at its end');
      const literal = character === '\\' ? this.#escape() : undefined;
      pattern += literal ?? character;
      if (literal === undefined) this.#at += 1;
    }
    this.#at += 1;
    const starred = this.#peek() === '*';
    if (starred) this.#at += 1;
    return { pattern, quoted: true, starred, column, length: this.#column - column };
  }

  /** Reads an escape, as a pattern. */
  #escape(): Pattern {
    const next = this.#characters[this.#at + 1];
    const escapes = isEscapable(next);
    this.#at += escapes ? 2 : 1;
    const literal = escapes ? (next as string) : '\\';
    return literal === '*' || literal === '?' || literal === '\\' ? `\\${literal}` : literal;
  }

  #expectEndOfWord(): void {
    const character = this.#peek();
    if (character === '"') {
      throw searchError(
        'a quote inside a word',
        this.#column,
        '; put a space before it, or write \\" for the character',
      );
    }
    if (!endsWord(character) || character === '(') {
      throw searchError(
        `${shown(character as string)} is in the way`,
        this.#column,
        '; put a space before it, or quote the whole',
      );
    }
  }
}
