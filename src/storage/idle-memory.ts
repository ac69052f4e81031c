/** Returns unused memory to the system after the start and after a busy time. V8 itself does so only when it allocates again. */
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
