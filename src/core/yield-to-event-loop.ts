/**
 * Lets other work of the process go first, now and then: called between the steps of long work, it answers undefined, or
 * a promise to wait for when the last pause is a slice ago.
 */
export type YieldToEventLoop = () => Promise<void> | undefined;

/** Long enough to get on, short enough that nobody waits for it. */
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
