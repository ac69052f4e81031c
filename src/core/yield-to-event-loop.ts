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
