/** The layout of a screen on which all cards fit: their size and position. With more cards, `flood.ts` has the layout. */
import type { Card } from '#client/board.ts';
import { followedHeight, heightForText, isLong, type Shape, shapeOf } from './card-text.ts';

/** In design pixels: pixels on a screen of 1920 × 1080. */
export interface Area {
  readonly width: number;
  readonly height: number;
}

export interface Place {
  readonly card: Card;
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
  /** The zoom of all rows except critical ones. */
  readonly zoom: number;
}

export const gap = 16;
/** The minimum height of a row at zoom 1, with the title on one line and one line of the message. */
const minHeight: Readonly<Record<Shape, number>> = { critical: 268, major: 240, minor: 190 };
/** The minimum height if the title takes two lines. */
const minHeightLongTitle: Readonly<Record<Shape, number>> = { critical: 322, major: 244, minor: 222 };
const maxStretch: Readonly<Record<Shape, number>> = { critical: 1.65, major: 1.4, minor: 1.35 };
const zooms = [1.6, 1.45, 1.3, 1.15, 1];
const criticalZooms = [2.2, 2, 1.8, ...zooms];
/** With more cards than these, one line for each is easier to read than small cards. */
const maxOnScreen = 24;

/**
 * Computes the layout for an area that does not scroll: text is as large as it can be. undefined: they do not all fit.
 * @param cards In display order.
 */
export function arrange(
  cards: readonly Card[],
  area: Area,
  { maxZoom = Number.POSITIVE_INFINITY } = {},
): Arrangement | undefined {
  const packed = pack(cards, area);
  const fits = (zoom: number, critical: number, needs: Needs) =>
    heightOf(packed, area, { zoom, critical }, needs) <= area.height;
  if (cards.length > maxOnScreen || !fits(1, 1, minHeightOf)) return undefined;
  const allowed = zooms.filter((each) => each <= maxZoom);
  const zoom = largest(allowed, (each, needs) => fits(each, each, needs)) ?? 1;
  const larger = criticalZooms.filter((each) => each >= zoom);
  const critical = largest(larger, (each, needs) => fits(zoom, each, needs)) ?? zoom;
  return {
    places: packed.flatMap(({ places }) => places),
    rows: distributeHeight(packed, area, zoom, critical),
    zoom,
  };
}

/** The height that a row needs. */
type Needs = (row: PackedRow, area: Area, zoom: number) => number;

/** The first of the zooms at which all titles are complete; else those of critical cards; else the first at which the cards fit. */
function largest(
  zooms: readonly number[],
  fits: (zoom: number, needs: Needs) => boolean,
): number | undefined {
  const wishes: readonly Needs[] = [titleHeightOf, criticalTitleHeightOf, minHeightOf];
  return wishes.flatMap((needs) => zooms.find((zoom) => fits(zoom, needs)) ?? [])[0];
}

interface PackedRow {
  readonly shape: Shape;
  readonly places: readonly Place[];
}

/** Puts the cards into rows. The first card of a row decides its shape. */
function pack(cards: readonly Card[], area: Area): PackedRow[] {
  const counts = { critical: 0, major: 0, minor: 0 };
  for (const card of cards) counts[shapeOf(card)] += 1;
  const rows: PackedRow[] = [];
  for (let at = 0; at < cards.length; ) {
    const shape = shapeOf(cards[at] as Card);
    const perRow = columnsOf(shape, counts[shape], cards.length, area);
    const row = rows.length;
    const span = 12 / perRow;
    const places = cards
      .slice(at, at + perRow)
      .map((card, index) => ({ card, row, column: 1 + index * span, span }));
    rows.push({ shape, places });
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

function heightOf(
  rows: readonly PackedRow[],
  area: Area,
  { zoom, critical }: { readonly zoom: number; readonly critical: number },
  needs: Needs = minHeightOf,
): number {
  const heights = rows.map((row) => needs(row, area, zoomOf(row, zoom, critical)));
  return sum(heights) + gap * Math.max(0, rows.length - 1);
}

const zoomOf = ({ shape }: PackedRow, zoom: number, critical: number) =>
  shape === 'critical' ? critical : zoom;

function minHeightOf({ shape, places }: PackedRow, { width }: Area, zoom: number): number {
  const long = places.some(({ card, span }) => isLong(card, widthOf(span, width) / zoom));
  const followed = Math.max(...places.map(({ card }) => followedHeight(card)));
  return zoom * ((long ? minHeightLongTitle : minHeight)[shape] + followed);
}

const widthOf = (span: number, width: number): number => ((width + gap) * span) / 12 - gap;

/** Distributes the remaining height among the rows: first to those whose texts need it, then to all of them. */
function distributeHeight(rows: readonly PackedRow[], area: Area, zoom: number, critical: number): Row[] {
  const minHeights = rows.map((row) => minHeightOf(row, area, zoomOf(row, zoom, critical)));
  const total = area.height - gap * Math.max(0, rows.length - 1);
  const heights = growToText(rows, minHeights, {
    free: total - sum(minHeights),
    textHeight: (row) => textHeightOf(row, area, zoomOf(row, zoom, critical)),
  });
  const factor = total / Math.max(1, sum(heights));
  return rows.map((row, at) => {
    const [height = 0, min = 0] = [heights[at], minHeights[at]];
    const stretched = Math.min(height * factor, min * maxStretch[row.shape]);
    return { height: Math.floor(Math.max(height, stretched)), zoom: zoomOf(row, zoom, critical) };
  });
}

/** The rows that need the least come first, so that one very long text takes nothing from the others. */
function growToText(
  rows: readonly PackedRow[],
  minHeights: readonly number[],
  { free, textHeight }: { readonly free: number; readonly textHeight: (row: PackedRow) => number },
): number[] {
  const heights = [...minHeights];
  const missing = rows.map((row, at) => Math.max(0, textHeight(row) - (minHeights[at] ?? 0)));
  const order = [...missing.keys()].sort((a, b) => (missing[a] ?? 0) - (missing[b] ?? 0));
  let left = Math.max(0, free);
  for (const [index, at] of order.entries()) {
    const part = Math.min(missing[at] ?? 0, left / (order.length - index));
    heights[at] = (heights[at] ?? 0) + part;
    left -= part;
  }
  return heights;
}

const textHeightOf = ({ places }: PackedRow, { width }: Area, zoom: number, messageLines?: number): number =>
  Math.max(
    ...places.map(({ card, span }) => zoom * heightForText(card, widthOf(span, width) / zoom, messageLines)),
  );

/** With its titles complete, and the start of its messages. */
const titleHeightOf: Needs = (row, area, zoom) =>
  Math.max(minHeightOf(row, area, zoom), textHeightOf(row, area, zoom, 2));

const criticalTitleHeightOf: Needs = (row, area, zoom) =>
  row.shape === 'critical' ? titleHeightOf(row, area, zoom) : minHeightOf(row, area, zoom);

const sum = (all: readonly number[]): number => all.reduce((total, each) => total + each, 0);
