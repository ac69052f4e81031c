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

/** The pattern that matches this text alone. */
export const literalPattern = (text: string): Pattern => text.replace(/[*?\\]/g, '\\$&');

/** The one text a pattern without wildcards matches; undefined when it has wildcards. */
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

/** Whether the whole of `text` matches. Takes at most pattern × text steps: no pattern can make it slower. */
export const matchesPattern = (pattern: Pattern, text: string): boolean => patternMatcher(pattern)(text);

/** The same, for a pattern that many texts are compared with. */
export function patternMatcher(pattern: Pattern): (text: string) => boolean {
  const literal = literalOf(pattern);
  if (literal !== undefined) return (text) => text === literal;
  const wanted = patternParts(pattern).flatMap(singleCharacters);
  return (text) => matchesParts(wanted, text);
}

function matchesParts(wanted: readonly PatternPart[], text: string): boolean {
  const given = [...text];
  let at = 0;
  let next = 0;
  let retryAt = 0;
  let retryNext = -1;
  while (at < given.length) {
    const part = wanted[next];
    if (part === '*') {
      next += 1;
      retryNext = next;
      retryAt = at;
    } else if (part === '?' || (typeof part === 'object' && part.literal === given[at])) {
      next += 1;
      at += 1;
    } else if (retryNext >= 0) {
      next = retryNext;
      retryAt += 1;
      at = retryAt;
    } else {
      return false;
    }
  }
  while (wanted[next] === '*') next += 1;
  return next === wanted.length;
}
