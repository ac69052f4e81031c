/** Work that waits for other work, or gives way to it. */

/** Runs `work` once at a time. A call during a run begins one more after it, however many calls there are. */
export function coalesced<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  const begin = () => {
    running = next ?? running;
    next = undefined;
    return work();
  };
  return () => {
    next ??= running.then(begin, begin);
    return next;
  };
}

/** Returns a function that runs work of the same name one after the other. */
export function inTurns(): <T>(name: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return (name, work) => {
    const turn = (last.get(name) ?? Promise.resolve()).then(work, work);
    const ended = turn.then(
      () => undefined,
      () => undefined,
    );
    last.set(name, ended);
    void ended.then(() => last.get(name) === ended && last.delete(name));
    return turn;
  };
}

/**
 * Calls `late` after `ms`, unless the returned function was called before. It counts eight steps, of which at most one passes while this
 * process itself stands still: what has arrived in the meantime is read before.
 */
export function afterWaiting(ms: number, late: () => void): () => void {
  let steps = 0;
  const timer = setInterval(() => {
    steps += 1;
    if (steps < 8) return;
    clearInterval(timer);
    late();
  }, ms / 8);
  return () => clearInterval(timer);
}

/** As `work`, but rejects with `late()` after `ms`, counted as by {@link afterWaiting}. The work itself goes on. */
export function withinTime<T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = afterWaiting(ms, () => reject(late()));
    work.then(resolve, reject).finally(stop);
  });
}

/** Whether `work` resolves or rejects within `ms`. */
export function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), Math.max(0, ms));
    const ended = () => {
      clearTimeout(timer);
      resolve(true);
    };
    work.then(ended, ended);
  });
}

/**
 * Call it between the steps of long work. When the work has run for a slice of time, it returns a promise to await, so that other
 * work of the process gets its turn; otherwise undefined.
 */
export type YieldToEventLoop = () => Promise<void> | undefined;

/** A compromise between progress and the delay of other work. */
const sliceMs = 5;

export function createYieldToEventLoop(): YieldToEventLoop {
  let since = performance.now();
  return () => {
    if (performance.now() - since < sliceMs) return undefined;
    return new Promise((resolve) =>
      setImmediate(() => {
        since = performance.now();
        resolve();
      }),
    );
  };
}
