import type { Card } from '#client/board.ts';
import type { Level } from '#contract/routing/level.ts';

type SoundName = Level['sound'];

export interface SoundContext {
  readonly serverTime: number;
  /** Quiet hours: only the most serious levels are heard. */
  readonly quiet: boolean;
  readonly level: (name: string) => Level | undefined;
  /** Whether the card was on this screen before a reload or a reset. */
  readonly known: (id: string) => boolean;
}

/** Older notifications arrived while the screen was offline; they are shown without a sound. */
const freshMs = 60_000;
/** Sounds from this rank on are played in quiet hours too. */
export const alwaysRank = 50;

export interface ChosenSound {
  readonly sound: SoundName;
  readonly rank: number;
}

/** One sound for cards that arrived together: that of the highest rank with a sound; undefined if there is none to play. */
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
