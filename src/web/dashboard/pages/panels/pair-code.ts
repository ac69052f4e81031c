/** Pairing codes as the server draws them: nothing in them is taken for something else, and none is a word. */
const alphabet = '2346789BCDFGHJKMNPQRTVWXYZ';
export const codeChars = 6;

/** What was typed or pasted as a code: in capitals, without spaces and dashes, no longer than a code is. */
export function codeOf(typed: string): string {
  return typed
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '')
    .slice(0, codeChars);
}

/** The first character that no code has; undefined when all of them can be in one. */
export const impossibleIn = (code: string): string | undefined =>
  [...code].find((char) => !alphabet.includes(char));
