/** What stands on a screen in a flood: similar cards are one item. */
import type { Card } from '#client/board.ts';
import { commonTitle, kindHeading, kindOf, titleKindOf } from '#contract/history/similar.ts';

/** One alarm, or several that are similar. */
export interface FloodItem {
  /** The same as long as it is shown. */
  readonly id: string;
  /** In display order: those that somebody takes care of come last. */
  readonly cards: readonly [Card, ...Card[]];
  /** The highest of its cards, with the name of its level. */
  readonly rank: number;
  readonly level: string;
  /** Where its kind began in the log: of two kinds of a level, the later one comes first. */
  readonly began: number;
}

/** So many similar cards become one item, which lasts until only one of them is left; if not all items fit, two do. */
export const leastToGroup = 3;

/** Remembers it of the cards that have been on the screen: the layout reads it several times a second. */
function remembered(of: (notification: Card['notification']) => string): (card: Card) => string {
  const texts = new WeakMap<Card['notification'], string>();
  return ({ notification }) => {
    const known = texts.get(notification) ?? of(notification);
    texts.set(notification, known);
    return known;
  };
}

/** Equal for similar cards. */
export const kindOfCard = remembered(kindOf);
const titleKindOfCard = remembered(titleKindOf);

/** The titles of an item's cards, in display order: one, unless a rule groups them by something else. */
export function titlesOf({ cards }: Pick<FloodItem, 'cards'>): readonly string[] {
  const [{ notification }] = cards;
  if (!notification.group) return [commonTitle(notification)];
  const firsts = new Map<string, Card>();
  for (const card of cards) if (!firsts.has(titleKindOfCard(card))) firsts.set(titleKindOfCard(card), card);
  return [...firsts.values()].map((card) => commonTitle(card.notification));
}

/** What an item's cards have in common: their title, unless they have different ones, and what their rule groups them by. */
export const headingOf = (item: Pick<FloodItem, 'cards'>, wordOf?: (level: string) => string): string =>
  kindHeading(titlesOf(item), item.cards[0].notification, wordOf);

/** The id of the item with all cards of a kind. */
export const groupId = (kind: string) => `kind ${kind}`;

/** Acknowledged cards last; else in the order given. */
export function inOrder(cards: readonly Card[]): Card[] {
  const isOpen = ({ notification }: Card) => notification.acknowledged === null;
  return [...cards.filter(isOpen), ...cards.filter((card) => !isOpen(card))];
}

/**
 * The items of these cards, which are in display order, as the items are. `before`: the items until now. A kind keeps its place, and
 * does not fall apart and come back, while cards come and go.
 */
export function itemsOf(
  cards: readonly Card[],
  before: readonly FloodItem[],
  least = leastToGroup,
): FloodItem[] {
  const known = new Map(before.map((item) => [kindOfCard(item.cards[0]), item]));
  const kinds = new Map<string, [Card, ...Card[]]>();
  for (const card of cards) {
    const same = kinds.get(kindOfCard(card));
    if (same) same.push(card);
    else kinds.set(kindOfCard(card), [card]);
  }
  const items = [...kinds].flatMap(([kind, all]): FloodItem[] => {
    const old = known.get(kind);
    const began = old ? old.began : Math.min(...all.map(({ notification }) => notification.position));
    return all.length >= (old && old.cards.length > 1 ? 2 : least)
      ? [{ id: groupId(kind), cards: all, ...worstOf(all), began }]
      : all.map((card) => ({ id: card.notification.id, cards: [card], ...worstOf([card]), began }));
  });
  return items.sort((a, b) => classOf(a) - classOf(b) || b.began - a.began);
}

function worstOf(cards: readonly [Card, ...Card[]]): Pick<FloodItem, 'rank' | 'level'> {
  const [first, ...others] = cards.map(({ notification }) => notification);
  const { rank, level } = others.reduce(
    (worst, each) => (each.rank > worst.rank ? each : worst),
    first as Card['notification'],
  );
  return { rank, level };
}

/** Somebody takes care of all of it. */
export const isDone = ({ cards: [{ notification }] }: FloodItem): boolean =>
  notification.acknowledged !== null;

/** Lower for what comes first: by level, and acknowledged items last. A critical alarm of which nobody takes care goes before all. */
const classOf = (item: FloodItem) => (isDone(item) ? 1e9 : 0) - (isUrgent(item) ? 1e6 : 0) - item.rank;

const urgentRank = 50;

/** Nobody takes care of a critical alarm of it. Those come first in it. */
export const isUrgent = ({ cards: [{ notification }] }: FloodItem): boolean =>
  notification.rank >= urgentRank && notification.acknowledged === null;
