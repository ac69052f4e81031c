import type { Card } from '#client/board.ts';

export type Shape = 'critical' | 'major' | 'minor';

export function shapeOf({ notification: { rank } }: Card): Shape {
  return rank >= 50 ? 'critical' : rank >= 40 ? 'major' : 'minor';
}

/** Longer titles are set smaller, so that more of them can be read. */
export function titleScale({ length }: string): number {
  return length <= 60 ? 1 : length <= 120 ? 0.82 : 0.7;
}

/** A card's padding to both sides, and what a usual letter of its title takes; design pixels, as in board.css. */
const measures: Readonly<Record<Shape, { readonly padding: number; readonly letter: number }>> = {
  critical: { padding: 100, letter: 30.5 },
  major: { padding: 66, letter: 18.5 },
  minor: { padding: 66, letter: 17.5 },
};

/** Whether the title of a card of this width will most likely not stand on one line. */
export function isLong(card: Card, width: number, zoom: number): boolean {
  const { padding, letter } = measures[shapeOf(card)];
  const { title } = card.notification;
  return title.length * letter * titleScale(title) > width / zoom - padding;
}
