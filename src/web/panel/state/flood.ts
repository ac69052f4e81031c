/**
 * The layout of a screen in a flood, when not all cards fit. Similar cards are one item. The first items are cards, the others are
 * rows of one line. The order is always the same: what nobody has acknowledged first, by level, then the newest.
 */
import type { Card } from '#client/board.ts';
import { kindOf } from '#contract/history/similar.ts';
import { type Area, gap } from './arrange.ts';

/** One alarm, or several that are similar. */
export interface FloodItem {
  /** The same as long as it is shown. */
  readonly id: string;
  /** In display order; the first one decides the item's place. */
  readonly cards: readonly [Card, ...Card[]];
}

export interface Lead {
  readonly item: FloodItem;
  readonly row: number;
  /** Of the twelve columns, from 1. */
  readonly column: number;
  readonly span: number;
}

export interface FloodLayout {
  readonly leads: readonly Lead[];
  readonly leadHeights: readonly number[];
  readonly rows: readonly FloodItem[];
  /** In how many columns the rows stand, from top to bottom. */
  readonly columns: number;
  readonly rowHeight: number;
  /** No room is left for these. */
  readonly hidden: readonly FloodItem[];
}

/** So many similar cards become one item, which lasts until only one of them is left; if not all items fit, two do. */
export const leastToGroup = 3;

/** Acknowledged cards last; else in the order given. */
export function inOrder(cards: readonly Card[]): Card[] {
  const isOpen = ({ notification }: Card) => notification.acknowledged === null;
  return [...cards.filter(isOpen), ...cards.filter((card) => !isOpen(card))];
}

/**
 * The items of these cards. `grouped`: the kinds that were one item before, so that an item does not fall apart and come back
 * while cards come and go.
 */
export function itemsOf(
  cards: readonly Card[],
  grouped: ReadonlySet<string>,
  least = leastToGroup,
): FloodItem[] {
  const ordered = inOrder(cards);
  const kinds = ordered.map(({ notification }) => kindOf(notification));
  const counts = new Map<string, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const isGroup = (kind: string) => (counts.get(kind) ?? 0) >= (grouped.has(kind) ? 2 : least);
  const groups = new Map<string, [Card, ...Card[]]>();
  const items: FloodItem[] = [];
  for (const [i, card] of ordered.entries()) {
    const kind = kinds[i] as string;
    const group = groups.get(kind);
    if (group) {
      group.push(card);
      continue;
    }
    const cardsOfItem: [Card, ...Card[]] = [card];
    if (isGroup(kind)) groups.set(kind, cardsOfItem);
    items.push({ id: isGroup(kind) ? `kind ${kind}` : card.notification.id, cards: cardsOfItem });
  }
  return items;
}

/** The kinds of the items that are groups, for the next {@link itemsOf}. */
export const groupedKinds = (items: readonly FloodItem[]): Set<string> =>
  new Set(
    items.flatMap(({ cards: [first, ...others] }) => (others.length > 0 ? kindOf(first.notification) : [])),
  );

/** Heights of a row, the most wanted first. A high screen has room for larger ones, and shows no more than a wide one. */
const rowHeights = ({ width, height }: Area) => (height > width ? [76, 68, 60] : [68, 60, 52, 44]);
const mostRowHeight = 76;
export const rowGap = 6;
/** In design pixels, with the text at `leadZoom`. */
const leadHeight = 176;
const mostLeadHeight = 240;
const mostLeads = 9;
const urgentRank = 50;

const isUrgent = ({ cards: [{ notification }] }: FloodItem) =>
  notification.rank >= urgentRank && notification.acknowledged === null;

/**
 * As many items as fit; of those layouts the one with the largest rows, and then the most cards.
 * @param maxItems The most items to show.
 */
export function arrangeFlood(
  items: readonly FloodItem[],
  area: Area,
  maxItems = Number.POSITIVE_INFINITY,
): FloodLayout {
  const most = Math.min(items.length, maxItems);
  const perLeadRow = area.width < 900 ? 1 : area.width < 1500 ? 2 : 3;
  const least = Math.min(perLeadRow, items.slice(0, most).filter(isUrgent).length);
  const choices = rowHeights(area).flatMap((rowHeight) =>
    columnCounts(area).map((columns) => ({ rowHeight, columns })),
  );
  const room = (leads: number, { rowHeight, columns }: Choice) => {
    const free = area.height - Math.ceil(leads / perLeadRow) * (leadHeight + gap);
    if (free + gap < 0) return -1;
    return Math.max(0, Math.floor((free + rowGap) / (rowHeight + rowGap))) * columns;
  };
  // One more row counts what is not shown.
  const more = most < items.length ? 1 : 0;
  for (const choice of choices) {
    for (let leads = Math.min(most, mostLeads); leads >= least; leads--) {
      // A row of cards is full, so that none is mostly empty.
      const isFull = leads % perLeadRow === 0 || leads === least || leads === most;
      if (isFull && most - leads + more <= room(leads, choice))
        return laid(items, area, { ...choice, leads, shown: most, perLeadRow });
    }
  }
  const choice = choices[choices.length - 1] as Choice;
  const shown = Math.min(most, least + Math.max(0, room(least, choice) - 1));
  return laid(items, area, { ...choice, leads: least, shown, perLeadRow });
}

interface Choice {
  readonly rowHeight: number;
  readonly columns: number;
}

/** A screen that is higher than wide has one column, so that a wide one never shows less. */
const columnCounts = ({ width, height }: Area): readonly number[] =>
  width < 1100 || height > width ? [1] : width < 1500 ? [2] : [2, 3];

/** Gives the height that is left to the rows, which are small, and then to the cards. */
function laid(
  items: readonly FloodItem[],
  area: Area,
  {
    rowHeight,
    columns,
    leads,
    shown,
    perLeadRow,
  }: Choice & { readonly leads: number; readonly shown: number; readonly perLeadRow: number },
): FloodLayout {
  const leadRows = Math.ceil(leads / perLeadRow);
  const hidden = items.slice(shown);
  const cells = shown - leads + (hidden.length > 0 ? 1 : 0);
  const lines = Math.ceil(cells / columns);
  const fixed = leadRows * gap + Math.max(0, lines - 1) * rowGap;
  const grownRow = Math.min(
    mostRowHeight,
    Math.max(rowHeight, (area.height - fixed - leadRows * leadHeight) / Math.max(1, lines)),
  );
  const height = Number.isFinite(grownRow) ? Math.floor(grownRow) : mostRowHeight;
  const left = area.height - fixed - lines * height;
  const leadSize = Number.isFinite(left)
    ? Math.floor(Math.min(mostLeadHeight, Math.max(leadHeight, left / Math.max(1, leadRows))))
    : leadHeight;
  return {
    leads: items.slice(0, leads).map((item, i) => {
      const row = Math.floor(i / perLeadRow);
      const inRow = Math.min(perLeadRow, leads - row * perLeadRow);
      const span = 12 / inRow;
      return { item, row, column: 1 + (i % perLeadRow) * span, span };
    }),
    leadHeights: Array.from({ length: leadRows }, () => leadSize),
    rows: items.slice(leads, shown),
    columns,
    rowHeight: height,
    hidden,
  };
}
