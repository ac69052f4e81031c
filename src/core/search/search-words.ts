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
