/** Gives memory back that starting up, or a busy time, has left behind. V8 does so by itself only when it allocates again. */
import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

const lookMs = 2_000;
/** Less than this share of the time was spent working: a pause of some tens of milliseconds is felt by nobody. */
const idleShare = 0.02;
/** What is worth it. */
const worthBytes = 12 * 1024 * 1024;
/** A heap that holds much takes long to go through: it keeps what it has. */
const mostUsedBytes = 96 * 1024 * 1024;
/** From then on it is looked at less often. */
const laterMs = 60_000;

/**
 * Watches this thread, and has its garbage collected once it idles with much of it: soon after the start, and after a busy
 * time. Answers how to stop.
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
