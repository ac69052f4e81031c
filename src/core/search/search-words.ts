/** The words of a text for history searches: the one definition for the index of every store and for every comparison. */

/** A character of a word: letters, digits and private-use characters of any script. */
export const wordCharacter = /[\p{L}\p{N}\p{Co}]/u;

const ascii = /^[\0-\x7f]*$/;
const asciiWords = /[a-z0-9]+/g;
const notAsciiWords = /[^a-z0-9]+/g;
/** Accents of Latin, Greek and Cyrillic letters; marks of other scripts distinguish words. */
const accents = /[\u0300-\u036f]+/g;
const words = /[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{Co}\p{M}]*/gu;

/** The words of a text in order, in lower case and without accents: "Très HAUT, größer" is tres, haut, großer. */
export function wordsOf(text: string): string[] {
  if (ascii.test(text)) return text.toLowerCase().match(asciiWords) ?? [];
  const plain = text.toLowerCase().normalize('NFD').replace(accents, '').normalize('NFC');
  return plain.replaceAll('ς', 'σ').match(words) ?? [];
}

/** The same words in one text, with a space between, in a fraction of the time. */
export function spacedWords(text: string): string {
  return ascii.test(text) ? text.toLowerCase().replace(notAsciiWords, ' ').trim() : wordsOf(text).join(' ');
}

/** Returns a test whether words contain `phrase` in a row; with `prefix` its last word is only a beginning. */
export function phraseMatcher(phrase: string, prefix: boolean): (words: readonly string[]) => boolean {
  const wanted = wordsOf(phrase);
  const last = wanted.length - 1;
  const isLast = (given: string) =>
    prefix ? given.startsWith(wanted[last] as string) : given === wanted[last];
  return (words) => {
    if (last < 0) return false;
    for (let end = last; end < words.length; end++) {
      if (!isLast(words[end] as string)) continue;
      let same = last;
      while (same > 0 && words[end - last + same - 1] === wanted[same - 1]) same -= 1;
      if (same === 0) return true;
    }
    return false;
  };
}

/**
 * Patterns of history searches: `*` is any run of characters, `?` is one, and a backslash before `*`, `?` or itself
 * takes it literally. A character is a code point, as it is for SQLite's GLOB.
 */
export type Pattern = string;

/** A pattern in parts: text to match as it stands, or one of the two wildcards. */
export type PatternPart = { readonly literal: string } | '*' | '?';

export function patternParts(pattern: Pattern): PatternPart[] {
  const parts: PatternPart[] = [];
  let literal = '';
  for (let i = 0; i < pattern.length; i++) {
    const unit = pattern[i] as string;
    if (unit !== '*' && unit !== '?') {
      literal += unit === '\\' ? (pattern[++i] ?? '') : unit;
      continue;
    }
    if (literal !== '') parts.push({ literal });
    literal = '';
    parts.push(unit);
  }
  if (literal !== '') parts.push({ literal });
  return parts;
}

/** The pattern that matches only this text. */
export const literalPattern = (text: string): Pattern => text.replace(/[*?\\]/g, '\\$&');

/** The only text that a pattern without wildcards matches; undefined when it has wildcards. */
export function literalOf(pattern: Pattern): string | undefined {
  const parts = patternParts(pattern);
  if (parts.length === 0) return '';
  const [first] = parts;
  return parts.length === 1 && typeof first === 'object' ? first.literal : undefined;
}

/** The pattern as if its wildcards were ordinary characters. */
export const patternText = (pattern: Pattern): string =>
  patternParts(pattern)
    .map((part) => (typeof part === 'object' ? part.literal : part))
    .join('');

const singleCharacters = (part: PatternPart): PatternPart[] =>
  typeof part === 'object' ? [...part.literal].map((literal) => ({ literal })) : [part];

/** Whether the whole of `text` matches. Takes at most pattern × text steps, because it backtracks only to the last `*`. */
export const matchesPattern = (pattern: Pattern, text: string): boolean => patternMatcher(pattern)(text);

/** As {@link matchesPattern}, compiled once for many texts. */
export function patternMatcher(pattern: Pattern): (text: string) => boolean {
  const literal = literalOf(pattern);
  if (literal !== undefined) return (text) => text === literal;
  const parts = patternParts(pattern).flatMap(singleCharacters);
  return (text) => matchesParts(parts, text);
}

function matchesParts(parts: readonly PatternPart[], text: string): boolean {
  const characters = [...text];
  let textIndex = 0;
  let partIndex = 0;
  // After a mismatch, the last `*` takes one more character, and matching continues with the part after it.
  let partAfterStar = -1;
  let starEnd = 0;
  while (textIndex < characters.length) {
    const part = parts[partIndex];
    if (part === '*') {
      partIndex += 1;
      partAfterStar = partIndex;
      starEnd = textIndex;
    } else if (part === '?' || (typeof part === 'object' && part.literal === characters[textIndex])) {
      partIndex += 1;
      textIndex += 1;
    } else if (partAfterStar >= 0) {
      partIndex = partAfterStar;
      starEnd += 1;
      textIndex = starEnd;
    } else {
      return false;
    }
  }
  while (parts[partIndex] === '*') partIndex += 1;
  return partIndex === parts.length;
}
