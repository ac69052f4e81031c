/**
 * Words as the full-text index sees them, for texts that are not in it: SQLite's `unicode61 remove_diacritics 2`.
 *
 * Asking the index about one notification takes some 20 µs, comparing its text here one. What a character is to the index,
 * the index itself is asked, once for each character beyond ASCII, so the two cannot differ.
 */
import Database from 'better-sqlite3';
import type { Query } from '../../../core/search/search-query.ts';

/** How the index splits text into words; the migrations say the same. */
export const tokenizer = 'unicode61 remove_diacritics 2';

const ascii = /^[\0-\x7f]*$/;
/** What a character adds to a word: folded letters; nothing, when it is an accent on its own; or, as null, it ends the word. */
type Part = string | null;

/** Reads words. It holds a small database in memory; one a thread is enough. */
export class WordReader {
  readonly #parts = new Map<string, Part>();
  readonly #oracle = new Database(':memory:');
  readonly #insert;
  readonly #terms;
  readonly #empty;

  constructor() {
    this.#oracle.exec(`
      CREATE VIRTUAL TABLE one USING fts5 (text, content='', contentless_delete=1, tokenize='${tokenizer}');
      CREATE VIRTUAL TABLE terms USING fts5vocab(one, instance)`);
    this.#insert = this.#oracle.prepare('INSERT INTO one (rowid, text) VALUES (?, ?)');
    this.#terms = this.#oracle.prepare<[], { doc: number; term: string }>('SELECT doc, term FROM terms');
    this.#empty = this.#oracle.prepare("INSERT INTO one (one) VALUES ('delete-all')");
  }

  /** The words of a text, in order, folded. */
  words(text: string): string[] {
    if (ascii.test(text)) return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
    this.#learn(text);
    const words: string[] = [];
    let word = '';
    for (const character of text) {
      const part = this.#parts.get(character) ?? null;
      // An accent continues a word and cannot start one.
      if (part !== null) word += part;
      else if (word !== '') {
        words.push(word);
        word = '';
      }
    }
    if (word !== '') words.push(word);
    return words;
  }

  /** Tells whether texts hold the words of `phrase` in a row; with `prefix` the last one may go on. */
  matcher(phrase: string, prefix: boolean): (text: string) => boolean {
    const wanted = this.words(phrase);
    const first = wanted[0];
    if (first === undefined) return () => false;
    return (text) => {
      // Nearly every text is ASCII and does not hold the first word at all.
      if (ascii.test(text) && !text.toLowerCase().includes(first)) return false;
      return holds(this.words(text), wanted, prefix);
    };
  }

  #learn(text: string): void {
    const unknown = new Set<string>();
    for (const character of text) if (!this.#parts.has(character)) unknown.add(character);
    if (unknown.size === 0) return;
    for (const character of unknown) this.#insert.run(character.codePointAt(0), `a${character}b`);
    for (const character of unknown) this.#parts.set(character, null);
    for (const { doc, term } of this.#terms.all()) {
      if (term.length > 1) this.#parts.set(String.fromCodePoint(doc), term.slice(1, -1));
    }
    this.#empty.run();
  }
}

/** Tells whether a notification's text is what a query of text alone asks for. */
export type TextMatcher = (title: string, message: string) => boolean;

/** Whether only text decides it. */
export function isTextOnly(query: Query): boolean {
  switch (query.kind) {
    case 'text':
      return true;
    case 'not':
      return isTextOnly(query.term);
    case 'and':
    case 'or':
      return query.terms.every(isTextOnly);
    default:
      return false;
  }
}

/** For a query that {@link isTextOnly}. */
export function textMatcher(query: Query, reader: WordReader): TextMatcher {
  switch (query.kind) {
    case 'text': {
      const { field } = query;
      const phrases = query.phrases.map(({ text, prefix }) => reader.matcher(text, prefix));
      return (title, message) =>
        phrases.some((has) => (field !== 'message' && has(title)) || (field !== 'title' && has(message)));
    }
    case 'not': {
      const matches = textMatcher(query.term, reader);
      return (title, message) => !matches(title, message);
    }
    case 'and':
    case 'or': {
      const matchers = query.terms.map((term) => textMatcher(term, reader));
      if (query.kind === 'or') return (title, message) => matchers.some((matches) => matches(title, message));
      return (title, message) => matchers.every((matches) => matches(title, message));
    }
    default:
      throw new Error(`"${query.kind}" is not text`);
  }
}

function holds(words: readonly string[], wanted: readonly string[], prefix: boolean): boolean {
  const last = wanted.length - 1;
  const fits = (start: number) =>
    wanted.every((word, i) => {
      const given = words[start + i] as string;
      return prefix && i === last ? given.startsWith(word) : given === word;
    });
  for (let start = 0; start + last < words.length; start++) if (fits(start)) return true;
  return false;
}
