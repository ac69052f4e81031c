/** Pairing codes as the server draws them: no characters that look alike, and no words. */
const alphabet = '2346789BCDFGHJKMNPQRTVWXYZ';
export const codeChars = 6;

/** What was typed or pasted as a code: in capitals, without spaces and dashes, no longer than a code is. */
export function codeOf(typed: string): string {
  return typed
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '')
    .slice(0, codeChars);
}

/** The first character that no code has. */
export const impossibleIn = (code: string): string | undefined =>
  [...code].find((char) => !alphabet.includes(char));

export const isWholeCode = (code: string): boolean =>
  code.length === codeChars && impossibleIn(code) === undefined;
