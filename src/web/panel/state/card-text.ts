/** The room that the text of a card needs, estimated before there is a card to measure. */
import type { Card } from '#client/board.ts';

export type Shape = 'critical' | 'major' | 'minor';

/** What somebody takes care of is as quiet as the minor ones. */
export function shapeOf({
  notification: { rank, acknowledged },
}: {
  readonly notification: Pick<Card['notification'], 'rank' | 'acknowledged'>;
}): Shape {
  if (acknowledged) return 'minor';
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
    frame: 152,
    title: { lineHeight: 66, letter: 30.5 },
    message: { lineHeight: 40, letter: 16 },
  },
  major: {
    padding: 66,
    frame: 121,
    title: { lineHeight: 40.5, letter: 18.5 },
    message: { lineHeight: 31, letter: 12.3 },
  },
  minor: {
    padding: 66,
    frame: 121,
    title: { lineHeight: 38.5, letter: 17.5 },
    message: { lineHeight: 30, letter: 11.8 },
  },
};
/** Of the lines that say who takes care of it, without and with until when. */
const acknowledgedHeights = [36, 66] as const;

/** The height at zoom 1 of the line that says how many alarms follow. */
export function followedHeight(card: Card): number {
  if (!card.suppresses) return 0;
  return shapeOf(card) === 'critical' ? 56 : 44;
}

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
    acknowledgedHeight(notification) +
    followedHeight(card) +
    titleLines * title.lineHeight * scale +
    messageLines * message.lineHeight
  );
}

const acknowledgedHeight = ({ acknowledged }: Card['notification']): number =>
  acknowledged ? acknowledgedHeights[acknowledged.until === null ? 0 : 1] : 0;

/** The height at zoom 1 at which a card for similar ones most likely shows their title with their number, a line of hosts, and one more. */
export function heightForGroup(shape: Shape, title: string, width: number): number {
  const { padding } = measures[shape];
  const { letter, lineHeight, rest } =
    shape === 'critical'
      ? { letter: 24, lineHeight: 56, rest: 186 }
      : { letter: 17.5, lineHeight: 40, rest: 146 };
  return rest + lineHeight * linesOf(`${title} 100 hosts`, letter, width - padding);
}

const linesOf = (text: string, letter: number, width: number): number =>
  text
    .split('\n')
    .reduce((lines, { length }) => lines + Math.max(1, Math.ceil((length * letter) / width)), 0);
