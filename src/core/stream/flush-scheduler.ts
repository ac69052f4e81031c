import { setTimeout as wait, setImmediate as yieldTurn } from 'node:timers/promises';

/** How long a turn of writing may keep the event loop from everything else. */
const turnMs = 2;
/** Streams between two looks at the clock. */
const streamsALook = 8;
/** However many streams there are, a rest is no longer than this. */
const longestRestMs = 50;

interface FlushSchedulerOptions {
  /** In the order in which each round goes over them; they may come and go meanwhile. `pump` must not throw. */
  readonly streams: () => Iterable<{ pump(): void }>;
  /** Milliseconds that only ever go forward. */
  readonly monotonicNow: () => number;
}

/**
 * When the streams of a feed write what has come for them: in rounds over all of them, the first at once. A write costs
 * the same however much it takes along. So a round is followed by a rest as long as its writing took, and what comes in the
 * meantime goes out in one write for each stream: few streams, whose rounds take next to no time, get each event as it
 * comes, and many get those of some milliseconds together. So a feed's rounds take half of the event loop, unless writing to
 * all takes longer than the longest rest. A round over very many is cut into turns, between which everything else has its own.
 */
export class FlushScheduler {
  readonly #options: FlushSchedulerOptions;
  /** Something came that the round under way, or the last one, did not bring to every stream. */
  #asked = false;
  #running = false;

  constructor(options: FlushSchedulerOptions) {
    this.#options = options;
  }

  /** There is something to write. */
  ask(): void {
    this.#asked = true;
    if (!this.#running) void this.#run();
  }

  async #run(): Promise<void> {
    this.#running = true;
    // What one turn of the event loop brings goes out together.
    await yieldTurn();
    while (this.#asked) {
      this.#asked = false;
      const restMs = Math.min(longestRestMs, await this.#round());
      // A timer is not exact to less than this.
      await (restMs < 1 ? yieldTurn() : wait(restMs));
    }
    this.#running = false;
  }

  /** Answers how long the writing took, in ms. */
  async #round(): Promise<number> {
    const { streams, monotonicNow } = this.#options;
    let spentMs = 0;
    let began = monotonicNow();
    let pumped = 0;
    for (const stream of streams()) {
      stream.pump();
      pumped += 1;
      if (pumped % streamsALook > 0 || monotonicNow() - began < turnMs) continue;
      spentMs += monotonicNow() - began;
      await yieldTurn();
      began = monotonicNow();
    }
    return spentMs + monotonicNow() - began;
  }
}
