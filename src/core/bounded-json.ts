/** Parses JSON of senders. */

/** No sender nests deeper. `JSON.parse` takes any depth, and each level costs time and memory. */
export const mostLevels = 100;

/** As `JSON.parse`. @throws SyntaxError also when objects and lists are nested too deeply; nothing is built then. */
export function parseBoundedJson(text: string): unknown {
  if (isTooDeep(text)) throw new SyntaxError(tooDeep);
  return JSON.parse(text);
}

export const tooDeep = `objects and lists are nested more than ${mostLevels} levels deep`;

/** Whether brackets outside of texts are nested too deeply. Each character is read once. */
export function isTooDeep(text: string): boolean {
  let level = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfText(text, at + 1);
    } else if (code === 0x5b || code === 0x7b) {
      level += 1;
      if (level > mostLevels) return true;
    } else if (code === 0x5d || code === 0x7d) {
      level -= 1;
    }
  }
  return false;
}

const quote = 0x22;

/** The place of the quote that ends a text; the end of everything if there is none. */
function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (end - backslashes > start && text.charCodeAt(end - backslashes - 1) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
