/**
 * To be called between the steps of long work. Returns undefined, or, when the work has run for a slice of time, a promise to
 * await, so that other work of the process gets its turn.
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
