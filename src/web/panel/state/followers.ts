import type { Card } from '#client/board.ts';

/**
 * How many alarms follow these. One that follows several is counted once, as far as it is named: of causes that share a named
 * alarm, those that are not named are taken to be the same.
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
