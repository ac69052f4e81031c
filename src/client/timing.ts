/** Times of a connection: a pause, and how much time has passed on a device that may sleep. */

/** Resolves after `ms`, or as soon as `signal` aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
    if (signal?.aborted) done();
  });
}

/** Elapsed time, independent of changes to the device's clock. */
export interface ElapsedClock {
  /** Milliseconds: the Unix time of this device at creation, plus the time that has passed since. */
  now(): number;
  /** Call it with each time that the server sends, in Unix milliseconds. */
  observe(serverTime: number): void;
}

/** A smaller difference is network delay, not sleep. */
const leastSleepMs = 1_000;

interface Reading {
  readonly ticks: number;
  readonly wall: number;
  readonly server: number;
}

/**
 * Uses the monotonic clock, which stops while the device sleeps. A sleep is detected when two independent clocks, the device's
 * wall clock and the server's, both advanced further than it between two messages.
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
