/** The layout of a screen: which cards it shows, their size and position. The other cards are summed up in one roll-up. */
import type { Card } from '#client/board.ts';

/** In design pixels: pixels on a screen of 1920 × 1080. */
export interface Area {
  readonly width: number;
  readonly height: number;
}

export interface Place {
  /** undefined: the roll-up of the cards without room. */
  readonly card: Card | undefined;
  readonly row: number;
  /** Of the twelve columns, from 1. */
  readonly column: number;
  readonly span: number;
}

export interface Row {
  readonly height: number;
  /** The scale of its text. */
  readonly zoom: number;
}

export interface Arrangement {
  readonly places: readonly Place[];
  readonly rows: readonly Row[];
  readonly hidden: readonly Card[];
  /** The zoom of all rows except critical ones. */
  readonly zoom: number;
}

export const gap = 16;
/** The minimum height of a row at zoom 1, with the title on one line and one line of the message. */
const minHeight: Readonly<Record<Shape, number>> = { critical: 262, major: 236, minor: 190 };
/** The minimum height if the title takes two lines. */
const minHeightLongTitle: Readonly<Record<Shape, number>> = { critical: 316, major: 240, minor: 222 };
const maxStretch: Readonly<Record<Shape, number>> = { critical: 1.65, major: 1.4, minor: 1.35 };
const zooms = [1.6, 1.45, 1.3, 1.15, 1];
const criticalZooms = [2.2, 2, 1.8, 1.6, 1.45, 1.3, 1.15, 1];
/** The most cards on one screen. */
const maxOnScreen = 60;

/**
 * Computes the layout for an area that does not scroll: as many cards as fit, as large as possible.
 * @param cards In display order.
 */
export function arrange(
  cards: readonly Card[],
  area: Area,
  { maxCards = maxOnScreen, maxZoom = Number.POSITIVE_INFINITY } = {},
): Arrangement {
  let shown = Math.min(cards.length, maxCards, maxOnScreen);
  let packed = pack(cards, shown, area);
  while (shown > 1 && heightOf(packed, area) > area.height) {
    shown -= 1;
    packed = pack(cards, shown, area);
  }
  const all = shown === cards.length;
  const fits = (zoom: number, critical = zoom) => heightOf(packed, area, zoom, critical) <= area.height;
  const zoom = all ? (zooms.find((each) => each <= maxZoom && fits(each)) ?? 1) : 1;
  const critical = criticalZooms.find((each) => each >= zoom && fits(zoom, each)) ?? zoom;
  return {
    places: packed.flatMap(({ places }) => places),
    rows: distributeHeight(packed, area, zoom, critical),
    hidden: cards.slice(shown),
    zoom,
  };
}

interface PackedRow {
  readonly shape: Shape;
  readonly places: readonly Place[];
}

/** Puts the first `shown` cards and the roll-up of the others into rows. The first card of a row decides its shape. */
function pack(cards: readonly Card[], shown: number, area: Area): PackedRow[] {
  const cells: (Card | undefined)[] = cards.slice(0, shown);
  if (shown < cards.length) cells.push(undefined);
  const counts = { critical: 0, major: 0, minor: 0 };
  for (const cell of cells) if (cell) counts[shapeOf(cell)] += 1;
  const rows: PackedRow[] = [];
  for (let at = 0; at < cells.length; ) {
    const first = cells[at];
    const shape = first ? shapeOf(first) : 'minor';
    const perRow = columnsOf(shape, counts[shape], cells.length, area);
    const row = rows.length;
    const span = 12 / perRow;
    const inRow = cells.slice(at, at + perRow);
    rows.push({
      shape,
      places: inRow.map((card, index) => ({ card, row, column: 1 + index * span, span })),
    });
    at += perRow;
  }
  return rows;
}

/** How many cards of a shape one row has. */
function columnsOf(shape: Shape, count: number, cells: number, { width }: Area): number {
  if (width < 900) return 1;
  const isAlone = count === 1 || (count === 2 && cells <= 3);
  if (width < 1500) return shape === 'critical' && isAlone ? 1 : 2;
  if (shape === 'critical') return isAlone ? 1 : count <= 6 ? 2 : 3;
  if (shape === 'major') return count <= 6 ? 2 : 3;
  return 3;
}

function heightOf(rows: readonly PackedRow[], area: Area, zoom = 1, critical = zoom): number {
  const heights = rows.map((row) => minHeightOf(row, area, zoomOf(row, zoom, critical)));
  return heights.reduce((sum, height) => sum + height, 0) + gap * Math.max(0, rows.length - 1);
}

const zoomOf = ({ shape }: PackedRow, zoom: number, critical: number) =>
  shape === 'critical' ? critical : zoom;

function minHeightOf({ shape, places }: PackedRow, { width }: Area, zoom: number): number {
  const long = places.some(({ card, span }) => card && isLong(card, ((width + gap) * span) / 12 - gap, zoom));
  return zoom * (long ? minHeightLongTitle : minHeight)[shape];
}

/** Distributes the remaining height among the rows, so that they fill the screen and messages get more lines. */
function distributeHeight(rows: readonly PackedRow[], area: Area, zoom: number, critical: number): Row[] {
  const used = heightOf(rows, area, zoom, critical);
  const gaps = gap * Math.max(0, rows.length - 1);
  const factor = (area.height - gaps) / Math.max(1, used - gaps);
  return rows.map((row) => {
    const own = zoomOf(row, zoom, critical);
    const most = Math.max(1, Math.min(factor, maxStretch[row.shape]));
    return { height: Math.floor(minHeightOf(row, area, own) * most), zoom: own };
  });
}

export type Shape = 'critical' | 'major' | 'minor';

export function shapeOf({ notification: { rank } }: Card): Shape {
  return rank >= 50 ? 'critical' : rank >= 40 ? 'major' : 'minor';
}

/** Longer titles are smaller, so that more of them fits. */
export function titleScale({ length }: string): number {
  return length <= 60 ? 1 : length <= 120 ? 0.82 : 0.7;
}

/** The horizontal padding of a card and the average width of a title letter, in design pixels as in board.css. */
const measures: Readonly<Record<Shape, { readonly padding: number; readonly letter: number }>> = {
  critical: { padding: 100, letter: 30.5 },
  major: { padding: 66, letter: 18.5 },
  minor: { padding: 66, letter: 17.5 },
};

/** Whether the title most likely needs two lines on a card of this width. */
function isLong(card: Card, width: number, zoom: number): boolean {
  const { padding, letter } = measures[shapeOf(card)];
  const { title } = card.notification;
  return title.length * letter * titleScale(title) > width / zoom - padding;
}

/** A card stays on the screen for at least this time, however many newer ones arrive, so that people can read it. */
export const dwellMs = 3_000;

/**
 * The order in which to show cards when not all have room: by rank; within a rank, cards that appeared a moment ago stay first,
 * so that nobody loses what they are reading.
 * @param cards The highest in rank first, then the newest.
 * @param shownSince When each card on the screen appeared.
 */
export function dwellOrder(
  cards: readonly Card[],
  shownSince: ReadonlyMap<string, number>,
  now: number,
): readonly Card[] {
  const dwelling = ({ notification: { id } }: Card) => {
    const since = shownSince.get(id);
    return since !== undefined && now - since < dwellMs;
  };
  const ordered: Card[] = [];
  for (let at = 0; at < cards.length; ) {
    const rank = cards[at]?.notification.rank;
    let end = at;
    while (end < cards.length && cards[end]?.notification.rank === rank) end += 1;
    const same = cards.slice(at, end);
    ordered.push(...same.filter(dwelling), ...same.filter((card) => !dwelling(card)));
    at = end;
  }
  return ordered;
}

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
