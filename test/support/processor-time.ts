/**
 * The processor time of `work` in this thread, in ms, independent of other work on the machine. Linux counts in ticks of some
 * milliseconds, so `work` or its limit should be tens of them.
 */
export function processorMs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
