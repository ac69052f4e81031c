/** The room that the text of a card needs, estimated before there is a card to measure. */
import type { Card } from '#client/board.ts';

export type Shape = 'critical' | 'major' | 'minor';

export function shapeOf({ notification: { rank } }: Card): Shape {
  return rank >= 50 ? 'critical' : rank >= 40 ? 'major' : 'minor';
}

/** The sizes that titles have, the largest first. */
export const titleScales = [1, 0.82, 0.7] as const;

/** Longer titles are smaller, so that more of them fits. */
export function titleScale({ length }: string): number {
  return titleScales[length <= 60 ? 0 : length <= 120 ? 1 : 2];
}

interface TextSize {
  readonly lineHeight: number;
  /** The average width of a letter. */
  readonly letter: number;
}

/** Sizes at zoom 1, in design pixels as in board.css. */
interface Measures {
  /** The horizontal padding. */
  readonly padding: number;
  /** The height of everything except title and message. */
  readonly frame: number;
  readonly title: TextSize;
  readonly message: TextSize;
}

const measures: Readonly<Record<Shape, Measures>> = {
  critical: {
    padding: 100,
    frame: 144,
    title: { lineHeight: 66, letter: 30.5 },
    message: { lineHeight: 40, letter: 16 },
  },
  major: {
    padding: 66,
    frame: 118,
    title: { lineHeight: 40.5, letter: 18.5 },
    message: { lineHeight: 31, letter: 12.3 },
  },
  minor: {
    padding: 66,
    frame: 118,
    title: { lineHeight: 38.5, letter: 17.5 },
    message: { lineHeight: 30, letter: 11.8 },
  },
};
const acknowledgedHeight = 36;

/** Whether the title most likely needs two lines on a card of this width at zoom 1. */
export function isLong(card: Card, width: number): boolean {
  const { padding, title } = measures[shapeOf(card)];
  return (
    linesOf(card.notification.title, title.letter * titleScale(card.notification.title), width - padding) > 1
  );
}

/** The height at zoom 1 at which a card of this width most likely shows all of its title, and so many lines of its message. */
export function heightForText(card: Card, width: number, maxMessageLines = Number.POSITIVE_INFINITY): number {
  const { padding, frame, title, message } = measures[shapeOf(card)];
  const { notification } = card;
  const scale = titleScale(notification.title);
  const room = width - padding;
  const titleLines = linesOf(notification.title, title.letter * scale, room);
  const messageLines = Math.min(maxMessageLines, linesOf(notification.message, message.letter, room));
  return (
    frame +
    (notification.acknowledged ? acknowledgedHeight : 0) +
    titleLines * title.lineHeight * scale +
    messageLines * message.lineHeight
  );
}

const linesOf = (text: string, letter: number, width: number): number =>
  text
    .split('\n')
    .reduce((lines, { length }) => lines + Math.max(1, Math.ceil((length * letter) / width)), 0);

/** What the roll-up says about the cards without room. */

/** A summary of the cards without room. */
interface RollUp {
  readonly count: number;
  /** The common start of all hosts, as in web-*; undefined if it is shorter than three letters. */
  readonly hosts: string | undefined;
  /** How many of each level, the highest in rank first. */
  readonly levels: readonly { readonly level: string; readonly count: number }[];
  readonly newestAt: number;
  readonly rank: number;
}

const minPrefix = 3;

export function rollUp(cards: readonly Card[]): RollUp {
  const levels = new Map<string, { count: number; rank: number }>();
  for (const { notification } of cards) {
    const known = levels.get(notification.level);
    if (known) known.count += 1;
    else levels.set(notification.level, { count: 1, rank: notification.rank });
  }
  return {
    count: cards.length,
    hosts: hostsOf(cards),
    levels: [...levels]
      .sort(([, a], [, b]) => b.rank - a.rank)
      .map(([level, { count }]) => ({ level, count })),
    newestAt: cards.reduce((newest, { receivedAt }) => Math.max(newest, receivedAt), 0),
    rank: cards.reduce((highest, { notification }) => Math.max(highest, notification.rank), 0),
  };
}

function hostsOf(cards: readonly Card[]): string | undefined {
  const [first, ...others] = cards.map(({ notification }) => notification.host ?? '');
  if (first === undefined || first === '') return undefined;
  if (others.every((host) => host === first)) return first;
  let length = first.length;
  for (const host of others) while (!host.startsWith(first.slice(0, length))) length -= 1;
  return length >= minPrefix ? `${first.slice(0, length)}*` : undefined;
}
