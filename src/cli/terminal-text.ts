/** Text from senders on a terminal: made harmless, measured in columns, cut to fit. */

/**
 * Characters that a terminal would obey, or that make text look different from what was written: controls, and the ones
 * that turn direction, break lines, hide or annotate. Joiners and variation selectors stay: emoji and several scripts
 * need them.
 */
const unsafe =
  /(?!\u200c|\u200d|[\ufe00-\ufe0f])[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The text on one line, with what is unsafe as visible escapes such as \x1b, \n and \u202e. */
export function visibleText(text: string): string {
  return text.replace(unsafe, (character) => named[character] ?? escapeOf(character.codePointAt(0) ?? 0));
}

function escapeOf(codePoint: number): string {
  const hex = codePoint.toString(16);
  if (codePoint <= 0xff) return `\\x${hex.padStart(2, '0')}`;
  return codePoint <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const ascii = /^[\x20-\x7e]*$/;
const zeroWidth = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
/** Emoji, and East Asian characters that are not the half-width forms. */
const wide =
  /^(?:\p{Emoji_Presentation}|.\ufe0f|(?![\uff61-\uffdc])[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Bopo}\p{sc=Yiii}\u3000-\u303e\u30fb\u30fc\uff01-\uff60\uffe0-\uffe6])/u;
/** Longer than any emoji; a character with more marks than this is cut, so that it cannot flood the screen. */
const maxCodePoints = 16;

/** How many columns a terminal gives to a visible text. */
export function textWidth(text: string): number {
  if (ascii.test(text)) return text.length;
  return Array.from(segmenter.segment(text), ({ segment }) => columnsOf(segment)).reduce((a, b) => a + b, 0);
}

/** The text, cut to at most `width` columns, with an ellipsis where something is missing. */
export function cutText(text: string, width: number): string {
  if (width <= 0) return '';
  if (ascii.test(text)) return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
  let kept = '';
  let used = 0;
  let beforeEllipsis = '';
  for (const { segment } of segmenter.segment(text)) {
    used += columnsOf(segment);
    if (used > width) return `${beforeEllipsis}…`;
    kept += segment.length <= maxCodePoints ? segment : [...segment].slice(0, maxCodePoints).join('');
    if (used < width) beforeEllipsis = kept;
  }
  return kept;
}

function columnsOf(grapheme: string): number {
  if (zeroWidth.test(grapheme)) return 0;
  return wide.test(grapheme) ? 2 : 1;
}

/** Rows under their headings, in columns two spaces apart. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows.map((cells) => cells.map(visibleText))];
  const widths = headings.map((_, column) => Math.max(...all.map((cells) => textWidth(cells[column] ?? ''))));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - textWidth(cell)))
      .join('  ')
      .trimEnd();
  return all.map((cells) => `${line(cells)}\n`).join('');
}

/** A time in UTC, to the minute; `-` for null. */
export function briefTime(iso: string | null): string {
  return iso === null ? '-' : `${iso.slice(0, 16).replace('T', ' ')}Z`;
}
