/** Words of a text, as history searches know them: the one definition for every store's index and for every comparison. */

/** What a word is made of: letters, digits and private-use characters, of any script. */
export const wordCharacter = /[\p{L}\p{N}\p{Co}]/u;

const ascii = /^[\0-\x7f]*$/;
const asciiWords = /[a-z0-9]+/g;
/** Accents of Latin, Greek and Cyrillic letters; the marks of other scripts tell words apart. */
const accents = /[\u0300-\u036f]+/g;
const words = /[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{Co}\p{M}]*/gu;

/** The words of a text in order, in lower case and without accents: "Très HAUT, größer" is tres, haut, großer. */
export function wordsOf(text: string): string[] {
  if (ascii.test(text)) return text.toLowerCase().match(asciiWords) ?? [];
  const plain = text.toLowerCase().normalize('NFD').replace(accents, '').normalize('NFC');
  return plain.replaceAll('ς', 'σ').match(words) ?? [];
}

/** Tells whether a text holds the words of `phrase` in a row; with `prefix` the last one may go on. */
export function phraseMatcher(phrase: string, prefix: boolean): (text: string) => boolean {
  const wanted = wordsOf(phrase);
  const first = wanted[0];
  if (first === undefined) return () => false;
  return (text) => {
    // Most texts are ASCII and do not hold the first word at all.
    if (ascii.test(text) && !text.toLowerCase().includes(first)) return false;
    return holds(wordsOf(text), wanted, prefix);
  };
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
