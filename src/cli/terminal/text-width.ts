/** How many columns a terminal gives to a text. Texts are visible ones: no controls. */

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const plain = /^[\x20-\x7e]*$/;
const zeroWidth = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
const emoji = /\p{Emoji_Presentation}|\ufe0f/u;
/** A base with more marks than this is drawn with these: stacked marks would reach into other lines. */
const maxCodePoints = 8;
/** Families and flags join more. */
const maxEmojiCodePoints = 16;

/** East Asian Wide and Fullwidth (Unicode's EastAsianWidth.txt), in the blocks that matter. */
const wideRanges: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x231a, 0x231b],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18aff],
  [0x1b000, 0x1b2ff],
  [0x1f200, 0x1f2ff],
  [0x20000, 0x3fffd],
];

export function textWidth(text: string): number {
  if (plain.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += graphemeWidth(segment);
  return width;
}

/** The text, cut to at most `width` columns, with an ellipsis where something is missing. */
export function cutText(text: string, width: number): string {
  if (width <= 0) return '';
  if (plain.test(text) && text.length <= width) return text;
  let kept = '';
  let used = 0;
  let room = '';
  for (const grapheme of graphemes(text)) {
    used += graphemeWidth(grapheme);
    if (used > width) return `${room}…`;
    kept += grapheme;
    if (used < width) room = kept;
  }
  return kept;
}

/**
 * Breaks a text into at most `maxLines` lines of at most `width` columns, between words where it can; the last ends in an
 * ellipsis when something is missing. Looks no further into a long text than it has to.
 */
export function wrapText(text: string, width: number, maxLines: number): string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const word of words(text, width)) {
    const isSpace = word.trim() === '';
    const columns = textWidth(word);
    if (!isSpace && used + columns > width && line !== '') {
      if (lines.length === maxLines - 1) return [...lines, cutText(`${line}${word}…`, width)];
      lines.push(line.trimEnd());
      line = '';
      used = 0;
    }
    if (isSpace && line === '' && lines.length > 0) continue;
    line += word;
    used += columns;
  }
  if (line.trimEnd() !== '' || lines.length === 0) lines.push(line.trimEnd());
  return lines;
}

/** Words with the spaces behind them apart, and words that are wider than a line in pieces. */
function* words(text: string, width: number): Generator<string> {
  for (const [word] of text.matchAll(/\s+|\S+/g)) {
    if (word.trim() === '' || (word.length <= width && textWidth(word) <= width)) {
      yield word.trim() === '' ? ' '.repeat(Math.min(word.length, width)) : clampMarks(word);
      continue;
    }
    let piece = '';
    let used = 0;
    for (const grapheme of graphemes(word)) {
      const columns = graphemeWidth(grapheme);
      if (used + columns > width && piece !== '') {
        yield piece;
        piece = '';
        used = 0;
      }
      piece += grapheme;
      used += columns;
    }
    if (piece !== '') yield piece;
  }
}

function clampMarks(text: string): string {
  return plain.test(text) ? text : [...graphemes(text)].join('');
}

function* graphemes(text: string): Generator<string> {
  for (const { segment } of segmenter.segment(text)) {
    const most = emoji.test(segment) ? maxEmojiCodePoints : maxCodePoints;
    yield segment.length <= most ? segment : [...segment].slice(0, most).join('');
  }
}

function graphemeWidth(grapheme: string): number {
  if (zeroWidth.test(grapheme)) return 0;
  const base = grapheme.codePointAt(0) ?? 0;
  if (base < 0x7f && grapheme.length === 1) return 1;
  if (emoji.test(grapheme) || isFlag(base)) return 2;
  return wideRanges.some(([low, high]) => base >= low && base <= high) ? 2 : 1;
}

function isFlag(codePoint: number): boolean {
  return codePoint >= 0x1f1e6 && codePoint <= 0x1f1ff;
}
