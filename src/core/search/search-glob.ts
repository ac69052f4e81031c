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
