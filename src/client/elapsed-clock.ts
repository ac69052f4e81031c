/** Elapsed time, independent of changes to the device's clock. */
export interface ElapsedClock {
  /** Milliseconds; at the beginning the Unix time of this device, from then on only what has passed since. */
  now(): number;
  /** The server sent its own time, in Unix milliseconds. */
  observe(serverTime: number): void;
}

/** Less than this is the line's delay, not a sleep. */
const leastSleepMs = 1_000;

interface Reading {
  readonly ticks: number;
  readonly wall: number;
  readonly server: number;
}

/**
 * Counts by the monotonic clock. That stands still while a device sleeps, so time also passes when two clocks that know
 * nothing of each other, the device's and the server's, have both gone further between two messages of the server.
 */
export function createElapsedClock({ wall = Date.now, ticks = () => performance.now() } = {}): ElapsedClock {
  const offset = wall() - ticks();
  let sleptMs = 0;
  let last: Reading | undefined;
  return {
    now: () => ticks() + offset + sleptMs,
    observe(server) {
      const next = { ticks: ticks(), wall: wall(), server };
      if (last) {
        const both = Math.min(next.wall - last.wall, next.server - last.server);
        const missedMs = both - (next.ticks - last.ticks);
        if (missedMs >= leastSleepMs) sleptMs += missedMs;
      }
      last = next;
    },
  };
}
