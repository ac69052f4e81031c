import { setTimeout as wait, setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Tracer } from '../tracing.ts';

/** How long a flush may block the event loop. */
const sliceMs = 2;
/** Streams between two readings of the clock. */
const streamsPerReading = 8;
/** A pause is no longer than this, however many streams there are. */
const longestPauseMs = 50;

interface FlushSchedulerOptions {
  /** In the order of writing; streams may be added and removed during a flush. `pump` must not throw. */
  readonly streams: () => Iterable<{ pump(): void }>;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicNow: () => number;
  readonly tracer?: Tracer | undefined;
}

/**
 * Decides when the streams of a tenant write: in flushes over all streams, the first at once. A write costs the same however
 * many events it carries, so after each flush the scheduler pauses for as long as the flush took, and the events of the
 * pause go out in one write for each stream. Few streams get each event immediately; many streams get the events of some
 * milliseconds together. A tenant's flushes so take at most half of the event loop, unless one takes longer than the
 * longest pause. A flush over very many streams yields to the event loop in between.
 */
export class FlushScheduler {
  readonly #options: FlushSchedulerOptions;
  /** There are events that the current or last flush did not write to every stream. */
  #pending = false;
  #running = false;

  constructor(options: FlushSchedulerOptions) {
    this.#options = options;
  }

  /** There is something to write. */
  schedule(): void {
    this.#pending = true;
    if (!this.#running) void this.#run();
  }

  async #run(): Promise<void> {
    this.#running = true;
    // Events that arrive in the same turn of the event loop go out together.
    await yieldToEventLoop();
    while (this.#pending) {
      this.#pending = false;
      const pauseMs = Math.min(longestPauseMs, await this.#flush());
      // A timer is not exact to less than this.
      await (pauseMs < 1 ? yieldToEventLoop() : wait(pauseMs));
    }
    this.#running = false;
  }

  /** Returns how long the writing took, in ms. */
  async #flush(): Promise<number> {
    const { streams, monotonicNow, tracer } = this.#options;
    let spentMs = 0;
    let began = monotonicNow();
    let pumped = 0;
    for (const stream of streams()) {
      stream.pump();
      pumped += 1;
      if (pumped % streamsPerReading > 0 || monotonicNow() - began < sliceMs) continue;
      spentMs += monotonicNow() - began;
      await yieldToEventLoop();
      began = monotonicNow();
    }
    spentMs += monotonicNow() - began;
    if (pumped > 0) tracer?.record('flush', spentMs, { 'belfry.streams': pumped });
    return spentMs;
  }
}
