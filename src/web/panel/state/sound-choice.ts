import type { Card } from '#client/board.ts';
import type { Level } from '#contract/level.ts';

type SoundName = Level['sound'];

export interface SoundContext {
  readonly serverTime: number;
  /** Nothing but the most serious sounds. */
  readonly quiet: boolean;
  readonly level: (name: string) => Level | undefined;
  /** Was on this screen already, before a reload or a reset. */
  readonly known: (id: string) => boolean;
}

/** What is older came while the screen was away: it is shown, and rings no bell. */
const freshMs = 60_000;
/** From here on a notification is heard in quiet hours too. */
const alwaysRank = 50;

export interface ChosenSound {
  readonly sound: SoundName;
  readonly rank: number;
}

/** The one sound for cards that came together: that of the highest in rank that has one; undefined when none is due. */
export function soundFor(
  added: readonly Card[],
  { serverTime, quiet, level, known }: SoundContext,
): ChosenSound | undefined {
  let loudest: ChosenSound | undefined;
  for (const { notification, receivedAt } of added) {
    const { id, rank } = notification;
    const sound = level(notification.level)?.sound ?? 'none';
    if (sound === 'none' || known(id) || serverTime - receivedAt > freshMs) continue;
    if (quiet && rank < alwaysRank) continue;
    if (!loudest || rank > loudest.rank) loudest = { rank, sound };
  }
  return loudest;
}
