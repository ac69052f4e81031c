/**
 * Processor time of this thread that `work` takes, in ms: what others do on the machine does not count. Linux counts it in
 * ticks of some milliseconds, so `work` should take tens of them, or its limit should.
 */
export function processorMs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
