/** How long to wait before the next attempt, here and in clients. */

interface BackoffOptions {
  /** The longest wait before the first attempt; it doubles with every one that fails … */
  readonly baseMs: number;
  /** … up to this. */
  readonly capMs: number;
}

/**
 * How long to wait before attempt `attempt` (0, 1, 2 …): random between half and all of the doubled time, so that clients that
 * lost the same server do not return at the same moment. `random`: from 0 to 1.
 */
export function backoffMs(
  attempt: number,
  { baseMs, capMs }: BackoffOptions,
  random = Math.random(),
): number {
  return Math.round(Math.min(capMs, baseMs * 2 ** attempt) * (0.5 + random / 2));
}
