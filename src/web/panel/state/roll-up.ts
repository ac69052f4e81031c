/** What the roll-up says about the cards without room. */
import type { Card } from '#client/board.ts';

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
