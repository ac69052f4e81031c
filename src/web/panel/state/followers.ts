import type { Card } from '#client/board.ts';

/**
 * How many alarms these cards suppress. An alarm that several of them suppress is counted once, if it is named. If two cards name
 * the same alarm, the unnamed ones of the second are not counted, because most are likely the same.
 */
export function followersOf(cards: readonly Card[]): number {
  const named = new Set<string>();
  let count = 0;
  for (const { suppresses } of cards) {
    if (!suppresses) continue;
    const { alarms } = suppresses;
    const fresh = alarms.filter(({ id }) => !named.has(id)).length;
    count += fresh === alarms.length ? suppresses.count : fresh;
    for (const { id } of alarms) named.add(id);
  }
  return count;
}
