import { type ClockMemory, TrustedClock } from './core/trusted-clock.ts';
import type { Logger } from './log.ts';

const words = {
  leapt:
    'the clock leapt: retention by age goes on as if it had not, for a day; set the clock if it is wrong',
  back: 'the clock is as it was before it leapt',
  believed: 'the clock has held for a day since it leapt: retention by age goes by it from now on',
};

/** The settled clock, going on from what was remembered of it; its turns are told in the log lines. */
export async function watchClock(
  memory: ClockMemory,
  logger: Logger,
  now: () => number,
): Promise<TrustedClock> {
  const iso = (at: number) => new Date(at).toISOString();
  return new TrustedClock({
    now,
    monotonicNow: () => performance.now(),
    remembered: await memory.read(),
    onTurn: (what, { wall, settled }) =>
      logger.warn({ clock: iso(wall), settled: iso(settled) }, words[what]),
  });
}
