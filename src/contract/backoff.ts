/** How long to wait before the next attempt, here and in clients. */

interface BackoffOptions {
  /** The longest wait before the first attempt; it doubles with every one that fails … */
  readonly baseMs: number;
  /** … up to this. */
  readonly capMs: number;
  /** From 0 to 1, as Math.random. */
  readonly random?: () => number;
}

/**
 * How long to wait before attempt `attempt` (0, 1, 2 …): random between half and all of the doubled time, so that clients that
 * lost the same server do not return at the same moment.
 */
export function backoffMs(attempt: number, { baseMs, capMs, random = Math.random }: BackoffOptions): number {
  const ceiling = Math.min(capMs, baseMs * 2 ** Math.min(attempt, 30));
  return Math.round(ceiling * (0.5 + random() / 2));
}
