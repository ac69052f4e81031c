import { availableParallelism, constants, getPriority, setPriority } from 'node:os';
import { performance } from 'node:perf_hooks';

const low = constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * Lowers the scheduling priority: on Linux of this thread, elsewhere of the whole process. A failure is ignored, because the
 * work is possible without it.
 */
export function lowerPriority(): void {
  try {
    // Keep a priority that is lower already.
    if (getPriority() < low) setPriority(low);
  } catch {
    // Not permitted: the priority stays.
  }
}

/** Threads that work at the same time under load: the main thread, the writer, the reader and searches. */
const busyThreads = 4;
/** The share of the time that searches get at least. */
const leastShare = 0.1;
/** A step takes about 100 ms. If it took much longer, the disk or the whole process stopped for a while. */
const mostPauseMs = 1_000;

/**
 * Returns a function that returns how many milliseconds searches must pause after a step of `tookMs`. It gives priority to storing and
 * showing notifications on a machine with fewer cores than busy threads: searches get the share of time that the main thread leaves
 * free, and at least a tenth.
 */
export function pauseUnderLoad(cores = availableParallelism()): (tookMs: number) => number {
  if (cores >= busyThreads) return () => 0;
  let before = performance.eventLoopUtilization();
  return (tookMs) => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    const share = Math.min(1, Math.max(leastShare, 1 - utilization));
    return Math.min(mostPauseMs, tookMs * (1 / share - 1));
  };
}
