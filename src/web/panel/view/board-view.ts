import type { Card } from '#client/board.ts';
import { element } from '#web/dom.ts';
import { type Arrangement, arrange, type Place, type Row } from '../state/arrange.ts';
import { shapeOf } from '../state/card-text.ts';
import { arrangeFlood, type Lead } from '../state/flood.ts';
import { type FloodItem, groupId, inOrder, itemsOf, kindOfCard } from '../state/flood-items.ts';
import { type CardView, createCardView, forget } from './card-view.ts';
import { createDetailsView, type DetailsContext } from './details-view.ts';
import { createGroupView, createRestView, createRowView, type ItemView } from './flood-view.ts';
import type { Stage } from './stage.ts';

/** What can be seen: a card, or the cards of a group. */
export type SeenItem = Pick<FloodItem, 'cards'>;

export interface BoardView {
  /** Behind it are the cards of a row or of similar alarms. */
  readonly details: HTMLDialogElement;
  /** Not all cards fit: similar ones are one item, and many are rows. */
  readonly isFlood: boolean;
  /**
   * Shows the cards, and returns what can be seen: single cards, and the cards of groups, which are seen with them. `isPartial`:
   * there are more live notifications than these cards.
   */
  render(
    board: { readonly cards: readonly Card[]; readonly isPartial: boolean },
    maxCards: number | undefined,
  ): readonly SeenItem[];
  tick(): void;
}

/** Text grows again, and rows become cards again, only after this time: otherwise the screen would jump with each card that comes and goes. */
const growAfterMs = 15_000;
/** Up to so many new cards are animated; more at once appear without motion. */
const mostArriving = 3;
/** With more cards on a page that scrolls, similar ones are one item there too. */
const mostScrolled = 20;

/** The cards of the screen. It keeps one element for each notification and changes only what differs. */
export function createBoardView(root: HTMLElement, stage: Stage, context: DetailsContext): BoardView {
  const views = new Map<string, CardView>();
  const groups = new Map<string, ReturnType<typeof createGroupView>>();
  const rows = new Map<string, ItemView>();
  const sizes = new Map<string, string>();
  const rest = createRestView(context);
  const list = element('div', { class: 'rows' });
  const details = createDetailsView(context);
  let zoom = { is: Number.POSITIVE_INFINITY, since: 0 };
  let items: readonly FloodItem[] = [];
  let floodAt = Number.NEGATIVE_INFINITY;
  let most = { leads: Number.POSITIVE_INFINITY, text: Number.POSITIVE_INFINITY, since: 0 };
  let isFlood = false;
  let all: readonly Card[] = [];
  /** The cards of an item, also if it is no item any more. */
  const cardsOf = (id: string) =>
    all.filter(
      (card) => card.notification.id === id || groupId(kindOfCard(card)) === id || alarmId(card) === id,
    );
  const open = (id: string) => details.open(id, cardsOf(id));
  const onScreen = { ...context, openDetails: (card: Card) => open(alarmId(card)) };

  /** The layout without a flood; undefined: not all cards fit. */
  const arrangeCards = (cards: readonly Card[], maxCards: number, now: number): Arrangement | undefined => {
    const area = stage.area();
    if (cards.length > maxCards || (area.scrolls && cards.length > mostScrolled)) return undefined;
    if (area.scrolls) return inOneColumn(cards);
    const held = now - zoom.since < growAfterMs ? { maxZoom: zoom.is } : {};
    const arranged = arrange(cards, area, held);
    if (arranged && arranged.zoom !== zoom.is) zoom = { is: arranged.zoom, since: now };
    return arranged;
  };

  const place = (view: HTMLElement, { row, column, span }: Omit<Place, 'card'>) => {
    const area = `${row + 1} / ${column} / auto / span ${span}`;
    if (view.style.gridArea !== area) view.style.gridArea = area;
  };

  /** Puts cards at their places; measures those whose size has changed. */
  const placeCards = <P extends Place>(places: readonly P[], rowOf: (place: P) => Row | undefined) => {
    const { scrolls, unitPx, width } = stage.area();
    const resized: CardView[] = [];
    const arrived: CardView[] = [];
    const order: HTMLElement[] = [];
    for (const each of places) {
      const row = scrolls ? undefined : rowOf(each);
      const key = keyOf(each.card);
      const view = views.get(key) ?? createCardView(each.card, onScreen);
      if (views.has(key)) view.update(each.card);
      else arrived.push(view);
      views.set(key, view);
      const size = `${row?.height} ${row?.zoom} ${each.span} ${unitPx} ${width} ${each.card.suppresses ? 1 : 0}`;
      if (sizes.get(key) !== size) {
        sizes.set(key, size);
        view.size(row, unitPx);
        resized.push(view);
      }
      place(view.root, each);
      order.push(view.root);
    }
    if (arrived.length <= mostArriving) for (const { root: card } of arrived) card.classList.add('arriving');
    forget(views, new Set(places.map(({ card }) => keyOf(card))), (key) => sizes.delete(key));
    return { order, measure: () => resized.map((view) => view.measure()) };
  };

  const renderCards = ({ places, rows: heights }: Arrangement): readonly SeenItem[] => {
    items = [];
    const { scrolls, unitPx } = stage.area();
    root.style.gridTemplateRows = scrolls
      ? 'none'
      : heights.map(({ height }) => `${height * unitPx}px`).join(' ');
    const { order, measure } = placeCards(places, ({ row }) => heights[row]);
    forget(groups, new Set());
    forget(rows, new Set());
    reorder(root, order);
    for (const setLines of measure()) setLines();
    return places.map(({ card }) => ({ cards: [card] }));
  };

  const renderFlood = (cards: readonly Card[], isPartial: boolean, maxItems: number): readonly SeenItem[] => {
    const now = performance.now();
    const area = stage.area();
    const { scrolls, unitPx, width } = area;
    const before = items;
    items = itemsOf(cards, before);
    const held = now - most.since < growAfterMs ? { maxLeads: most.leads, maxText: most.text } : {};
    const limits = { maxItems, isPartial, ...held };
    let layout = arrangeFlood(items, area, limits);
    if (layout.hidden.length > 0) {
      items = itemsOf(cards, before, 2);
      layout = arrangeFlood(items, area, limits);
    }
    const { leads, leadHeights, hidden, hasMore } = layout;
    const count = layout.rows.length > 0 ? leads.length : Number.POSITIVE_INFINITY;
    const text = layout.rows.length > 0 ? layout.rowText : Number.POSITIVE_INFINITY;
    if (count !== most.leads || text !== most.text) most = { leads: count, text, since: now };
    root.style.gridTemplateRows = scrolls
      ? 'none'
      : [...leadHeights.map((height) => `${height * unitPx}px`), 'auto'].join(' ');
    const rowOf = ({ row, zoom }: Pick<Lead, 'row' | 'zoom'>): Row => ({
      height: leadHeights[row] ?? 0,
      zoom,
    });
    const single = leads.filter(({ item }) => item.cards.length === 1);
    const { order: placed, measure } = placeCards(
      single.map(({ item, ...at }) => ({ ...at, card: item.cards[0] })),
      rowOf,
    );
    const resized: ReturnType<typeof createGroupView>[] = [];
    const byId = new Map(single.map(({ item }, i) => [item.id, placed[i] as HTMLElement]));
    const order = leads.map(({ item, ...at }) => {
      const known = byId.get(item.id);
      if (known) return known;
      const view = groups.get(item.id) ?? createGroupView(item, context, open);
      view.update(item);
      groups.set(item.id, view);
      if (view.size(scrolls ? undefined : rowOf(at), `${unitPx} ${width}`)) resized.push(view);
      place(view.root, at);
      return view.root;
    });
    forget(groups, new Set(leads.flatMap(({ item }) => (item.cards.length > 1 ? item.id : []))));
    const lines = layout.rows.map((item) => {
      const view = rows.get(item.id) ?? createRowView(item, context, open);
      view.update(item);
      rows.set(item.id, view);
      return view.root;
    });
    forget(rows, new Set(layout.rows.map(({ id }) => id)));
    if (hasMore) rest.update(hidden, isPartial);
    reorder(list, hasMore ? [...lines, rest.root] : lines);
    const height = Math.ceil((lines.length + (hasMore ? 1 : 0)) / layout.columns);
    list.style.setProperty('--h', String(layout.rowHeight));
    list.style.setProperty('--text', String(layout.rowText));
    list.style.setProperty('--host', String(layout.hostChars));
    list.style.setProperty('--columns', String(layout.columns));
    list.style.setProperty('--lines', String(Math.max(1, height)));
    place(list, { row: leadHeights.length, column: 1, span: 12 });
    reorder(root, lines.length > 0 || hasMore ? [...order, list] : order);
    for (const setLines of [...measure(), ...resized.map((view) => view.measure())]) setLines();
    return [...leads.map(({ item }) => item), ...layout.rows];
  };

  return {
    details: details.root,
    get isFlood() {
      return isFlood;
    },
    render({ cards: given, isPartial }, limit) {
      const now = performance.now();
      const cards = inOrder(given);
      all = cards;
      const maxCards = limit ?? Number.POSITIVE_INFINITY;
      const calm = arrangeCards(cards, maxCards, now);
      if (!calm) floodAt = now;
      isFlood = !calm || (isFlood && cards.length > 0 && now - floodAt < growAfterMs);
      const shown = calm && !isFlood ? renderCards(calm) : renderFlood(cards, isPartial, maxCards);
      const { openId } = details;
      if (openId !== undefined) details.update(cardsOf(openId));
      return shown;
    },
    tick() {
      for (const view of [...views.values(), ...groups.values(), ...rows.values()]) view.tick();
      details.tick();
    },
  };
}

/** A repeat of its key takes its place, also while somebody reads its details. */
const alarmId = ({ notification: { id, key } }: Card) => (key === null ? id : `key ${key}`);

/** A card is built anew when somebody acknowledges it, because it looks different then. */
const keyOf = (card: Card) => `${card.notification.id} ${shapeOf(card)}`;

/** On a page that scrolls each card is as high as its text. */
const inOneColumn = (cards: readonly Card[]): Arrangement => ({
  places: cards.map((card, row) => ({ card, row, column: 1, span: 12 })),
  rows: [],
  zoom: 1,
});

/** Puts the elements in reading order and moves only those in the wrong place. */
function reorder(root: HTMLElement, order: readonly HTMLElement[]): void {
  const wanted = new Set<Element>(order);
  for (const child of [...root.children]) if (!wanted.has(child)) child.remove();
  order.forEach((element, at) => {
    const there = root.children[at];
    if (there !== element) root.insertBefore(element, there ?? null);
  });
}
