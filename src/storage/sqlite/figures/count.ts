/**
 * Counts the matches of a query by time and level, newest first and a step at a time, so that other searches need not wait
 * for the end of it. Where the indexes alone decide, sets of positions are counted; elsewhere rows are read.
 */
import type { Database } from 'better-sqlite3';
import type { CountTimes, LevelCount } from '../../../core/figures.ts';
import type { TenantId } from '../../../core/ports.ts';
import type { Query } from '../../../core/search/search-query.ts';
import { PositionSet, type Positions } from '../index/position-set.ts';
import { distinctValues } from '../index/values.ts';
import { receivedFrom, withinTimes } from '../search/bounds.ts';
import { listed } from '../search/candidates.ts';
import { allOf, flatten } from '../search/conjuncts.ts';
import { inLog, type LogState } from '../search/search.ts';
import type { SourceScope } from '../search/source.ts';
import { defaultTuning, type Tuning } from '../search/tuning.ts';
import { type Candidates, CountPlan } from './count-plan.ts';
import { RowCounter } from './count-rows.ts';
import { type Stretch, stretchesOf } from './count-stretches.ts';
import { Tally } from './tally.ts';

export interface CountRequest extends CountTimes {
  readonly now: number;
  /** Only positions below this one are left to count. */
  readonly below?: number;
  /**
   * A step ends after about `stepMs`, or after `leftMs` where steps would do the same work again; it counts something,
   * however short that is.
   */
  readonly stepMs: number;
  readonly leftMs: number;
}

export interface CountStep {
  readonly counts: readonly LevelCount[];
  /** `below` for the next step; null when all is counted. */
  readonly below: number | null;
  /** The time back to which was counted; null when all is. */
  readonly searchedTo: number | null;
  readonly tookMs: number;
}

/** The sets of a window hold a bit for each of its positions. */
const widestWindow = 2 ** 20;
/** Rows read at once, at most: some 10 to 40 ms. */
const mostRows = 4_096;
/** Where more of a stretch than this share are candidates, all its rows are read in order. */
const denseShare = 1 / 8;

/** What is to be counted, newest first, and where to go on when a step is over. */
export function countStep(
  db: Database,
  tenant: TenantId,
  query: Query,
  request: CountRequest,
  tuning: Tuning = defaultTuning,
): CountStep {
  const step = inLog(db, { tenant, now: request.now, tuning }, (scope, log) =>
    new Counting(query, scope, log, request).run(),
  );
  return step ?? { counts: [], below: null, searchedTo: null, tookMs: 0 };
}

class Counting {
  readonly #scope: SourceScope;
  readonly #log: LogState;
  readonly #below: number;
  readonly #startedAt = performance.now();
  #lastsMs: number;
  readonly #leftMs: number;
  readonly #times: CountTimes;
  /** What must hold besides the times. */
  readonly #conjuncts: readonly Query[];
  readonly #tally = new Tally();
  readonly #rows: RowCounter;

  constructor(query: Query, scope: SourceScope, log: LogState, request: CountRequest) {
    const { below = Number.MAX_SAFE_INTEGER, stepMs, leftMs } = request;
    this.#scope = scope;
    this.#log = log;
    this.#below = below;
    this.#lastsMs = stepMs;
    this.#leftMs = leftMs;
    const conjuncts = flatten(query);
    this.#times = narrowed(request, conjuncts);
    this.#conjuncts = conjuncts.filter(({ kind }) => kind !== 'after' && kind !== 'before');
    this.#rows = new RowCounter(scope, this.#times, this.#tally);
  }

  run(): CountStep {
    const { first, head, indexed } = this.#log;
    const high = Math.min(head, this.#below - 1);
    const stopped =
      this.#scan({ low: Math.max(first, indexed + 1), high }) ??
      this.#countIndexed({ low: first, high: Math.min(high, indexed) });
    const { db, tenant, now } = this.#scope;
    const searchedTo = stopped === undefined ? null : (receivedFrom(db, tenant, stopped) ?? now);
    return { counts: this.#tally.rows(), below: stopped ?? null, searchedTo, tookMs: this.#tookMs };
  }

  get #tookMs(): number {
    return performance.now() - this.#startedAt;
  }

  get #isOver(): boolean {
    return this.#tookMs >= this.#lastsMs;
  }

  /** Each of these counts all of a stretch, or answers the position it stopped at: that one is counted, those below are not. */
  #countIndexed(rest: Positions): number | undefined {
    const { db, tenant, tuning } = this.#scope;
    const { after, before } = this.#times;
    const bounds: Query[] = [
      { kind: 'after', at: after },
      { kind: 'before', at: before },
    ];
    const range = withinTimes(db, tenant, bounds, rest);
    if (range.low > range.high) return undefined;
    const plan = new CountPlan(this.#conjuncts, this.#scope, range);
    if (plan.readsWhole) this.#lastsMs = this.#leftMs;
    const stretches = stretchesOf(this.#scope, this.#times).reverse();
    let width = tuning.firstWindow;
    for (let high = range.high; high >= range.low; ) {
      const window = { low: Math.max(range.low, high - width + 1), high };
      const candidates = plan.candidates(window);
      const stopped = candidates ? this.#countWindow(candidates, window, stretches) : this.#scan(window);
      if (stopped !== undefined && stopped > range.low) return stopped;
      high = window.low - 1;
      width = Math.min(width * tuning.windowGrowth, widestWindow);
      if (this.#isOver && high >= range.low) return window.low;
    }
    return undefined;
  }

  #countWindow(
    { set, undecided }: Candidates,
    window: Positions,
    stretches: readonly Stretch[],
  ): number | undefined {
    if (set.size === 0) return undefined;
    if (undecided.kind !== 'all') return this.#countRows(set, undecided, window);
    const levels = this.#levelSets(window);
    for (const { low, high, bucket } of stretches) {
      const part = { low: Math.max(low, window.low), high: Math.min(high, window.high) };
      if (part.low > part.high) continue;
      if (bucket === null || !levels) {
        const stopped = this.#countRows(set, undecided, part);
        if (stopped !== undefined) return stopped;
      } else
        for (const [level, ofLevel] of levels)
          this.#tally.add({ bucket, level, count: set.countShared(ofLevel, part) });
    }
    return undefined;
  }

  /** undefined when there are too many levels to look at each. */
  #levelSets(window: Positions): (readonly [string, PositionSet])[] | undefined {
    const { db, tenant, tuning } = this.#scope;
    const names = distinctValues<string>(db, { tenant, field: 'level' }, {}, tuning.windowedLists);
    return names?.map((name) => {
      const set = new PositionSet(window);
      listed('level', [name], this.#scope).read(set, window);
      return [name, set];
    });
  }

  #countRows(set: PositionSet, undecided: Query, part: Positions): number | undefined {
    let size = this.#scope.tuning.firstBatch;
    for (let before = part.high + 1; ; size = Math.min(2 * size, mostRows)) {
      const batch = set.highest(size, before).filter((position) => position >= part.low);
      const last = batch.at(-1);
      if (last === undefined) return undefined;
      if (batch.length > (before - last) * denseShare)
        this.#rows.scan(this.#all, { low: last, high: before - 1 });
      else this.#rows.fetch(undecided, batch);
      before = last;
      if (this.#isOver && last > part.low) return last;
    }
  }

  /** Row by row. */
  #scan({ low, high }: Positions): number | undefined {
    let size = this.#scope.tuning.firstBatch;
    for (let end = high; end >= low; size = Math.min(2 * size, mostRows)) {
      const start = Math.max(low, end - size + 1);
      this.#rows.scan(this.#all, { low: start, high: end });
      if (this.#isOver) return start;
      end = start - 1;
    }
    return undefined;
  }

  get #all(): Query {
    return allOf(this.#conjuncts);
  }
}

/** The times that both the request and the query allow. */
function narrowed(times: CountTimes, conjuncts: readonly Query[]): CountTimes {
  let { after, before } = times;
  for (const term of conjuncts) {
    if (term.kind === 'after') after = Math.max(after, term.at);
    if (term.kind === 'before') before = Math.min(before, term.at);
  }
  return { ...times, after, before };
}
