/** Parses JSON of senders. */

/** No sender nests deeper. `JSON.parse` takes any depth, and each level costs time and memory. */
export const mostLevels = 100;

/** The most objects and lists, and the most texts, names among them: `JSON.parse` takes a microsecond for each, and 4 MiB may have a million. */
export const mostLists = 100_000;
export const mostTexts = 400_000;

/** JSON of a valid form that costs too much to read. */
class ExcessError extends SyntaxError {}

/** As `JSON.parse`. @throws SyntaxError also for what {@link findExcess} finds; nothing is built then. */
export function parseBoundedJson(text: string): unknown {
  const excess = findExcess(text);
  if (excess !== undefined) throw new ExcessError(excess);
  return JSON.parse(text);
}

/** What of a text costs too much to read, if {@link parseBoundedJson} refused it for that. */
export const excessOf = (error: unknown): string | undefined =>
  error instanceof ExcessError ? error.message : undefined;

const tooDeep = `objects and lists are nested more than ${mostLevels} levels deep`;
const tooMany = `there are more than ${mostLists} objects and lists, or ${mostTexts} texts`;

/** What is too much in JSON: brackets outside of texts, their nesting, or texts. Each character is read once. */
export function findExcess(text: string): string | undefined {
  let level = 0;
  let lists = 0;
  let texts = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      texts += 1;
      if (texts > mostTexts) return tooMany;
      at = endOfText(text, at + 1);
    } else if (code === 0x5b || code === 0x7b) {
      level += 1;
      lists += 1;
      if (level > mostLevels) return tooDeep;
      if (lists > mostLists) return tooMany;
    } else if (code === 0x5d || code === 0x7d) {
      level -= 1;
    }
  }
  return undefined;
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
