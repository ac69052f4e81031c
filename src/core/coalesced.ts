/** Runs `work` once at a time. A call during a run begins one more after it, however many calls there are. */
export function coalesced(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const begin = () => {
    running = next;
    next = undefined;
    return work();
  };
  return () => {
    next ??= (running ?? Promise.resolve()).then(begin, begin);
    return next;
  };
}
