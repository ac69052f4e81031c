/** The layout of a screen: which cards it shows, their size and position. The other cards are summed up in one roll-up. */
import type { Card } from '#client/board.ts';
import { heightForText, isLong, type Shape, shapeOf } from './card-text.ts';

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
const criticalZooms = [2.2, 2, 1.8, 1.6, 1.45, 1.3, 1.15, 1, 0.9, 0.8];
/** The columns and the smallest text of critical rows. */
interface Density {
  readonly minColumns: number;
  readonly minZoom: number;
}
const normal: Density = { minColumns: 1, minZoom: 1 };
/** Tried in this order until every critical card is shown. */
const denser: readonly Density[] = [
  { minColumns: 2, minZoom: 1 },
  { minColumns: 3, minZoom: 1 },
  { minColumns: 3, minZoom: 0.8 },
  { minColumns: 4, minZoom: 0.8 },
];
const minColumnWidth = 400;
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
  const most = Math.min(cards.length, maxCards, maxOnScreen);
  const criticalCount = cards.slice(0, most).filter((card) => shapeOf(card) === 'critical').length;
  let density = normal;
  let { shown, packed } = packMost(cards, most, area, density);
  for (const each of denser) {
    if (shown >= criticalCount) break;
    const next = packMost(cards, most, area, each);
    if (next.shown <= shown) continue;
    ({ shown, packed } = next);
    density = each;
  }
  const all = shown === cards.length;
  const fits = (zoom: number, critical: number, needs: Needs) =>
    heightOf(packed, area, { zoom, critical }, needs) <= area.height;
  const allowed = zooms.filter((each) => all && each <= maxZoom);
  const zoom = largest(allowed, (each, needs) => fits(each, each, needs)) ?? 1;
  const minCritical = zoom * density.minZoom;
  const larger = criticalZooms.filter((each) => each >= minCritical);
  const critical = largest(larger, (each, needs) => fits(zoom, each, needs)) ?? minCritical;
  return {
    places: packed.flatMap(({ places }) => places),
    rows: distributeHeight(packed, area, zoom, critical),
    hidden: cards.slice(shown),
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

/** As many of the first `most` cards as fit. */
function packMost(cards: readonly Card[], most: number, area: Area, density: Density) {
  let shown = most;
  let packed = pack(cards, shown, area, density);
  while (shown > 1 && heightOf(packed, area, { zoom: 1, critical: density.minZoom }) > area.height) {
    shown -= 1;
    packed = pack(cards, shown, area, density);
  }
  return { shown, packed };
}

interface PackedRow {
  readonly shape: Shape;
  readonly places: readonly Place[];
}

/** Puts the first `shown` cards and the roll-up of the others into rows. The first card of a row decides its shape. */
function pack(cards: readonly Card[], shown: number, area: Area, { minColumns }: Density): PackedRow[] {
  const cells: (Card | undefined)[] = cards.slice(0, shown);
  if (shown < cards.length) cells.push(undefined);
  const counts = { critical: 0, major: 0, minor: 0 };
  for (const cell of cells) if (cell) counts[shapeOf(cell)] += 1;
  const rows: PackedRow[] = [];
  for (let at = 0; at < cells.length; ) {
    const first = cells[at];
    const shape = first ? shapeOf(first) : 'minor';
    const usual = columnsOf(shape, counts[shape], cells.length, area);
    const perRow =
      shape === 'critical'
        ? Math.max(usual, Math.min(minColumns, Math.floor(area.width / minColumnWidth)))
        : usual;
    const row = rows.length;
    const inRow = cells.slice(at, at + perRow);
    const isRollUpAlone = first === undefined;
    const span = isRollUpAlone ? 12 : 12 / perRow;
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
  const long = places.some(({ card, span }) => card && isLong(card, widthOf(span, width) / zoom));
  return zoom * (long ? minHeightLongTitle : minHeight)[shape];
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
    ...places.map(({ card, span }) =>
      card ? zoom * heightForText(card, widthOf(span, width) / zoom, messageLines) : 0,
    ),
  );

/** With its titles complete, and the start of its messages. */
const titleHeightOf: Needs = (row, area, zoom) =>
  Math.max(minHeightOf(row, area, zoom), textHeightOf(row, area, zoom, 2));

const criticalTitleHeightOf: Needs = (row, area, zoom) =>
  row.shape === 'critical' ? titleHeightOf(row, area, zoom) : minHeightOf(row, area, zoom);

const sum = (all: readonly number[]): number => all.reduce((total, each) => total + each, 0);

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
