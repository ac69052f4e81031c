/** The size of the text of rows, estimated before there are rows to measure. */
import type { Area } from './arrange.ts';
import { type FloodItem, headingOf } from './flood-items.ts';

export interface RowSize {
  readonly rowHeight: number;
  /** In how many columns the rows stand. */
  readonly columns: number;
}

export interface RowText {
  /** As large as the height allows, if host and title are complete in nearly all rows; never smaller than can be read. */
  size(of: RowSize): number;
  /** Whether host and title of nearly all rows are complete in so many columns. */
  isComplete(columns: number): boolean;
  /** As wide as nearly all hosts, and at most so wide that the title has room, at this size of the text. */
  hostChars(columns: number, size: number): number;
}

/** Smaller text cannot be read from afar. */
const leastText = 20;
/** Larger text goes at least so many times into the width: hosts, notes and ages need room, too. */
const roomyText = 24;
const textsInWidth = 31;
/** As in flood.css: padding, border and gaps of a row, and what is between two columns. */
const frame = 84;
const hostShare = 0.62;
const columnGap = 14;
/** Average widths of letters in sizes of the text: of hosts, whose letters have one width, and of titles. */
const hostLetter = 0.6;
const titleLetter = 0.54;
/** As wide as level and age, in sizes of the text. */
const levelAndAge = 4.2;
/** "100 hosts" stands in the place of the host of a group. */
const countChars = 9;

/** @param maxText The largest text. */
export function createRowText(items: readonly FloodItem[], { width }: Area, maxText: number): RowText {
  const isSingle = ({ cards }: FloodItem) => cards.length === 1;
  const hostChars = nearlyAll(items, (item) => {
    const { host, ip } = item.cards[0].notification;
    return isSingle(item) ? (host ?? ip ?? '').length : countChars;
  });
  const titleChars = nearlyAll(
    items,
    (item) => (isSingle(item) ? item.cards[0].notification.title : headingOf(item)).length,
  );
  const inner = (columns: number) => (width + columnGap) / columns - columnGap - frame;
  const fitting = (columns: number) =>
    inner(columns) / (hostChars * hostLetter + titleChars * titleLetter + levelAndAge);
  return {
    hostChars: (columns, size) =>
      Math.min(hostChars, Math.floor((hostShare * inner(columns)) / (hostLetter * size))),
    isComplete: (columns) => fitting(columns) >= leastText,
    size({ rowHeight, columns }) {
      const roomy = Math.max(roomyText, width / columns / textsInWidth);
      const text = Math.min(maxText, rowHeight / 2, fitting(columns), roomy);
      // In steps, so that it does not change with each item.
      return Math.max(leastText, text - (text % 2));
    },
  };
}

/** At least nine of ten items have at most this length. */
function nearlyAll(items: readonly FloodItem[], lengthOf: (item: FloodItem) => number): number {
  const lengths = items.map(lengthOf).sort((a, b) => a - b);
  return lengths[Math.floor(lengths.length * 0.9)] ?? 0;
}
