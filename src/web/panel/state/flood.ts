/**
 * The layout of a screen in a flood, when not all cards fit. Similar cards are one item. The first items are cards, the others are
 * rows of one line. The order is always the same: what nobody has acknowledged first, by level, then the newest kind. One more
 * alarm of a kind moves nothing.
 */
import type { Card } from '#client/board.ts';
import { type Area, gap } from './arrange.ts';
import { heightForGroup, heightForText, shapeOf } from './card-text.ts';
import { type FloodItem, headingOf, isUrgent } from './flood-items.ts';
import { createRowText, type RowSize, type RowText } from './row-text.ts';

export interface Lead {
  readonly item: FloodItem;
  readonly row: number;
  /** Of the twelve columns, from 1. */
  readonly column: number;
  readonly span: number;
  /** The scale of its text. */
  readonly zoom: number;
}

export interface FloodLayout {
  readonly leads: readonly Lead[];
  readonly leadHeights: readonly number[];
  readonly rows: readonly FloodItem[];
  /** In how many columns the rows stand, from top to bottom. */
  readonly columns: number;
  readonly rowHeight: number;
  /** The size of their text. */
  readonly rowText: number;
  /** How many characters wide the column of hosts is. */
  readonly hostChars: number;
  /** The last line says that there are more. */
  readonly hasMore: boolean;
  /** No room is left for these. */
  readonly hidden: readonly FloodItem[];
}

/** Heights of a row, the most wanted first. A high screen has room for larger ones, and shows no more than a wide one. */
const rowHeights = ({ width, height }: Area) =>
  height <= width ? [68, 60, 52, 44] : [Number.isFinite(height) ? 96 : 76];
const mostRowHeight = 76;
/** With so many items on the screen, complete titles are worth more than more items. */
const enoughItems = 28;
export const rowGap = 6;
/** The least height of a lead. */
const leadHeight = 176;
/** The width at zoom 1 at which the level and the times stand side by side. */
const widthForLevel = { critical: 560, major: 460, minor: 460 };
/** The scales of a lead's text. */
const leadZooms = [2.2, 2, 1.8, 1.6, 1.45, 1.3, 1.15, 1, 0.9, 0.8, 0.7, 0.6];
const mostLeads = 9;

/**
 * As many items as fit; of those layouts the one with the largest text in its rows, then the highest rows, and then the most cards.
 * Hosts and titles are complete in nearly all rows, unless fewer than 28 items would fit.
 * @param isPartial There are more than these items; the last line says so.
 * @param maxLeads Rows do not become cards beyond so many, except urgent ones.
 * @param maxText The largest text of rows.
 */
export function arrangeFlood(
  items: readonly FloodItem[],
  area: Area,
  {
    maxItems = Number.POSITIVE_INFINITY,
    isPartial = false,
    maxLeads = Number.POSITIVE_INFINITY,
    maxText = Number.POSITIVE_INFINITY,
  } = {},
): FloodLayout {
  const most = Math.min(items.length, maxItems);
  const perLeadRow = area.width < 900 ? 1 : area.width < 1500 ? 2 : 3;
  const least = Math.min(perLeadRow, items.slice(0, most).filter(isUrgent).length);
  const text = createRowText(items, area, maxText);
  const all = columnCounts(area)
    .flatMap((columns) => rowHeights(area).map((rowHeight) => ({ rowHeight, columns })))
    .sort((a, b) => text.size(b) - text.size(a));
  const room = (leads: number, { rowHeight, columns }: RowSize) => {
    const free = area.height - Math.ceil(leads / perLeadRow) * (leadHeight + gap);
    if (free + gap < 0) return -1;
    return Math.max(0, Math.floor((free + rowGap) / (rowHeight + rowGap))) * columns;
  };
  const roomiest = (of: readonly RowSize[]) =>
    of.reduce((one, other) => (room(least, other) > room(least, one) ? other : one));
  const complete = all.filter(({ columns }) => text.isComplete(columns));
  const isEnough = complete.length > 0 && least + room(least, roomiest(complete)) > enoughItems;
  const choices = isEnough ? complete : all;
  // One more row counts what is not shown.
  const more = isPartial || most < items.length ? 1 : 0;
  for (const choice of choices) {
    for (let leads = Math.min(most, mostLeads, Math.max(least, maxLeads)); leads >= least; leads--) {
      // A row of cards is full, so that none is mostly empty.
      const isFull = leads % perLeadRow === 0 || leads === least || leads === most;
      if (isFull && most - leads + more <= room(leads, choice))
        return laid(items, area, { ...choice, leads, shown: most, more, perLeadRow, text });
    }
  }
  const choice = roomiest(choices);
  const shown = Math.min(most, least + Math.max(0, room(least, choice) - 1));
  return laid(items, area, { ...choice, leads: least, shown, more: 1, perLeadRow, text });
}

/** A screen that is higher than wide has one column, so that a wide one never shows less. */
const columnCounts = ({ width, height }: Area): readonly number[] =>
  width < 1100 || height > width ? [1] : width < 1500 ? [2] : [2, 3];

/** Gives the height that is left to the rows, which are small, and then to the leads. */
function laid(
  items: readonly FloodItem[],
  area: Area,
  { rowHeight, columns, leads, shown, more, perLeadRow, text }: Sizes,
): FloodLayout {
  const cells = shown - leads + more;
  const lines = Math.ceil(cells / columns);
  const least = Math.ceil(leads / perLeadRow) * (leadHeight + gap);
  const room = (area.height - least + rowGap) / Math.max(1, lines) - rowGap;
  const height = Math.floor(Math.max(rowHeight, Math.min(mostRowHeight, room)));
  const rowsHeight = lines === 0 ? 0 : lines * (height + rowGap) - rowGap + gap;
  const given = items.slice(0, leads);
  const free = { width: area.width, height: area.height - rowsHeight };
  // Without rows, leads may stand in fewer columns, if that makes their text larger.
  const counts = leads === shown ? Array.from({ length: perLeadRow }, (_, n) => n + 1) : [perLeadRow];
  const choices = counts
    .filter((n) => n === perLeadRow || Math.ceil(leads / n) * (leadHeight + gap) - gap <= free.height)
    .map((perRow) => leadsIn(given, free, perRow));
  const rowText = text.size({ rowHeight: height, columns });
  const best = choices.reduce((one, other) => (zoomIn(other) > zoomIn(one) ? other : one));
  return {
    ...best,
    rows: items.slice(leads, shown),
    columns,
    rowHeight: height,
    rowText,
    hostChars: text.hostChars(columns, rowText),
    hasMore: more > 0,
    hidden: items.slice(shown),
  };
}

const zoomIn = ({ leads }: Pick<FloodLayout, 'leads'>) => Math.min(...leads.map(({ zoom }) => zoom));

interface Sizes extends RowSize {
  readonly leads: number;
  readonly shown: number;
  /** 1 with a line that counts the rest. */
  readonly more: number;
  readonly text: RowText;
  readonly perLeadRow: number;
}

/** The leads with so many in a row, and the largest text at which they are complete. */
function leadsIn(
  items: readonly FloodItem[],
  { width, height }: Area,
  perRow: number,
): Pick<FloodLayout, 'leads' | 'leadHeights'> {
  const count = Math.ceil(items.length / perRow);
  const share = Math.floor((height + gap) / Math.max(1, count) - gap);
  const rowHeight = Number.isFinite(share) ? Math.max(leadHeight, share) : leadHeight;
  const places = items.map((item, i) => {
    const row = Math.floor(i / perRow);
    const span = 12 / Math.min(perRow, items.length - row * perRow);
    return { item, row, column: 1 + (i % perRow) * span, span, shape: shapeOfItem(item) };
  });
  const leads = places.map(({ shape, ...place }) => {
    const wide = ((width + gap) * place.span) / 12 - gap;
    // Cards of one shape that stand side by side have one size of text.
    const beside = places.filter((each) => each.row === place.row && each.shape === shape);
    const fits = (zoom: number) =>
      wide >= zoom * widthForLevel[shape] &&
      beside.every(({ item }) => zoom * heightOf(item, wide / zoom) <= rowHeight);
    return { ...place, zoom: leadZooms.find(fits) ?? (leadZooms[leadZooms.length - 1] as number) };
  });
  return { leads, leadHeights: Array.from({ length: count }, () => rowHeight) };
}

const shapeOfItem = ({ rank, cards: [{ notification }] }: FloodItem) =>
  shapeOf({ notification: { rank, acknowledged: notification.acknowledged } });
const hasFollowers = ({ suppresses }: Card) => suppresses !== undefined;
/** As wide as what a group says of them. */
const followedRoom = ' · 100 followed';

/** The height at zoom 1 at which a lead of this width most likely shows its title, and a line of its message or hosts. */
const heightOf = (item: FloodItem, width: number): number =>
  item.cards.length === 1
    ? heightForText(item.cards[0], width, 0)
    : heightForGroup(
        shapeOfItem(item),
        `${headingOf(item)}${item.cards.some(hasFollowers) ? followedRoom : ''}`,
        width,
      );
