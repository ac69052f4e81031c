/** What senders write, made harmless for a terminal. */

/**
 * Characters that a terminal would obey or that would make text read otherwise than it is written: controls, and the
 * ones that turn direction, break lines, hide or annotate. Joiners and variation selectors stay: emoji and several
 * scripts need them.
 */
const unsafe =
  /(?!\u200c|\u200d|[\ufe00-\ufe0f])[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The text on one line, with what is unsafe as visible escapes such as \x1b, \n and \u202e. */
export function visibleText(text: string): string {
  return text.replace(unsafe, (character) => named[character] ?? escapeOf(character.codePointAt(0) ?? 0));
}

/** As {@link visibleText}, for places that have room: line breaks break lines, tabs are spaces. */
export function visibleLines(text: string): string[] {
  return text.split(/\r\n|[\n\r]/).map((line) => visibleText(line.replaceAll('\t', '    ')));
}

function escapeOf(codePoint: number): string {
  const hex = codePoint.toString(16);
  if (codePoint <= 0xff) return `\\x${hex.padStart(2, '0')}`;
  return codePoint <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`;
}
