import type { Card } from '#client/board.ts';
import type { Level } from '#contract/routing/level.ts';
import type { ChosenSound } from './sound-choice.ts';

/** The shortest pause between two repeats. */
const leastMs = 5_000;

interface RepeatContext {
  /** Milliseconds that only ever go forward. */
  readonly now: number;
  readonly level: (name: string) => Level | undefined;
  /** Below this rank nothing is heard, as in quiet hours. */
  readonly minRank: number;
}

/**
 * Decides when the sound of cards must be repeated because nobody has acknowledged them. Times count from the moment when this
 * page first had the card, so a reload restarts them.
 */
export class RepeatedSound {
  #lastAt = new Map<string, number>();

  /** The sound to play now, that of the highest rank that is due; undefined if there is none. */
  next(cards: readonly Card[], { now, level, minRank }: RepeatContext): ChosenSound | undefined {
    const lastAt = new Map<string, number>();
    let loudest: ChosenSound | undefined;
    for (const { notification } of cards) {
      const { repeatMs = 0, sound = 'none' } = level(notification.level) ?? {};
      if (repeatMs === 0 || sound === 'none' || notification.acknowledged) continue;
      const { id, rank } = notification;
      const last = this.#lastAt.get(id) ?? now;
      const isDue = now - last >= Math.max(leastMs, repeatMs);
      lastAt.set(id, isDue ? now : last);
      if (isDue && rank >= minRank && (!loudest || rank > loudest.rank)) loudest = { sound, rank };
    }
    this.#lastAt = lastAt;
    return loudest;
  }
}
