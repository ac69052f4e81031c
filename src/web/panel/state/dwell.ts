import type { Card } from '#client/board.ts';

/** In a flood a card that came to the screen stays so long, however many newer ones there are: or nobody could read it. */
export const dwellMs = 3_000;

/**
 * The order in which to show cards when not all have room. Rank goes before everything; of one rank, those that came to
 * the screen a moment ago go first, so that what is being read is not swept away.
 * @param cards the highest in rank first, then the newest.
 * @param shownSince when the cards on the screen came to it.
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
