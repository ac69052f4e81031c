/** Returns unused memory to the system after the start and after a busy time. V8 itself does so only when it allocates again. */
import { availableParallelism, constants, getPriority, setPriority } from 'node:os';
import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

const lookMs = 2_000;
/** A thread that worked for less than this share of the time is idle: a pause of some tens of milliseconds delays nobody. */
const idleShare = 0.02;
/** After the first time, garbage is collected only if the heap has more unused memory than this. */
const worthBytes = 12 * 1024 * 1024;
/** With more used memory than this, a collection would take too long. */
const mostUsedBytes = 96 * 1024 * 1024;
/** The interval of checks after the first collection. */
const laterMs = 60_000;

/**
 * Watches this thread, and collects its garbage when it is idle and has much unused memory: soon after the start, and after a busy
 * time. Returns a function that stops watching.
 */
export function giveBackIdleMemory(): () => void {
  let before = performance.eventLoopUtilization();
  let timer: NodeJS.Timeout;
  let first = true;
  const look = () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    const { total_heap_size: held, used_heap_size: used } = getHeapStatistics();
    const idle = utilization < idleShare;
    if (idle && used < mostUsedBytes && (first || held - used > worthBytes)) {
      first = false;
      collect();
    }
    before = performance.eventLoopUtilization();
    timer = setTimeout(look, first ? lookMs : laterMs).unref();
  };
  timer = setTimeout(look, lookMs).unref();
  return () => clearTimeout(timer);
}

function collect(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as Collect)({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

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
