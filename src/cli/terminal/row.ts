import type { Paint, Style } from './paint.ts';
import { cutText, textWidth } from './text-width.ts';

/** A run of text in one style. The text is a visible one. */
export interface Piece {
  readonly text: string;
  readonly style?: Style;
}

export interface RowOptions {
  readonly width: number;
  readonly paint: Paint;
  /** Behind the whole row. */
  readonly fill?: string | undefined;
}

/**
 * One row of exactly `width` columns: `left` is cut to make room for `right`, which stays at the right edge, and is left
 * out where it would take more than half.
 */
export function row(
  left: readonly Piece[],
  right: readonly Piece[],
  { width, paint, fill }: RowOptions,
): string {
  const wanted = widthOf(right);
  const shown = wanted > 0 && wanted <= width / 2 ? right : [];
  const rightWidth = shown.length === 0 ? 0 : wanted;
  const room = width - rightWidth - (rightWidth > 0 ? 1 : 0);
  const kept = cut(left, room);
  const gap: Piece = { text: ' '.repeat(Math.max(0, width - rightWidth - widthOf(kept))) };
  return [...kept, gap, ...shown]
    .map(({ text, style }) => paint(text, fill === undefined ? (style ?? {}) : { ...style, fill }))
    .join('');
}

export function widthOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { text }) => sum + textWidth(text), 0);
}

function cut(pieces: readonly Piece[], width: number): Piece[] {
  const kept: Piece[] = [];
  let room = width;
  for (const piece of pieces) {
    const columns = textWidth(piece.text);
    if (columns > room) {
      kept.push({ ...piece, text: cutText(piece.text, room) });
      return kept;
    }
    kept.push(piece);
    room -= columns;
  }
  return kept;
}
