import { type ReplayChange, type ReplayResponse, replayChanges } from '#contract/routing/routing.ts';
import { createYieldToEventLoop } from '../limits/concurrency.ts';
import type { Entry, History } from '../log/log.ts';
import type { Route, TenantId } from '../log/route.ts';
import { isEmpty, reaches, type Target } from '../log/target.ts';
import { getOrMake } from '../maps.ts';
import { iso } from '../time/time.ts';
import { type Recorded, routeRecorded } from './explain.ts';
import {
  ChannelSendings,
  type FirstShown,
  type NamedPanel,
  PanelShowings,
  type ReplayChannel,
  ReplayedEscalations,
  RuleMatches,
} from './replay-counts.ts';
import { ReplayedCauses } from './replay-suppress.ts';
import type { Decision, Router } from './router.ts';
import { mustShow, Throttle, type Throttled } from './throttle.ts';

export type Comparison = Omit<ReplayResponse, 'complete'>;

/** An entry of the log. */
export type ReplayEntry = Recorded | EntryAbout;
/** An entry about a notification. */
export type EntryAbout = Exclude<Entry, { kind: 'notification' }>;

interface ReplaySetting {
  /** The tenant's channels before and after the change. */
  readonly before: readonly ReplayChannel[];
  readonly after: readonly ReplayChannel[];
  /** Escalations that are due later do not count. */
  readonly now: number;
  readonly firstShown: FirstShown;
}
type Example = ReplayResponse['examples'][number];
/** Why it is not shown, although its route has panels. */
type Outcome = Pick<Example['after'], 'throttled' | 'suppressed'>;

const maxExamples = 20;

/**
 * Routes recorded notifications again and compares the result with the recorded one. A notification counts as changed when its
 * level, ttl, panels, muting, throttling or suppressing differ, not when only other rules lead to the same result. What is suppressed
 * when it comes counts as not shown and not sent, although it may come to the panels later.
 *
 * @param recorded oldest first: throttles count on what came before.
 * @param panels the tenant's panels as they are now: a notification counts as shown when it reaches one of them.
 * @returns counts, and the newest examples of each kind of change, newest first.
 */
export async function replay(
  recorded: AsyncIterable<ReplayEntry> | Iterable<ReplayEntry>,
  router: Router,
  panels: readonly NamedPanel[],
  { before, after, now, firstShown }: ReplaySetting = {
    ...{ before: [], after: [], now: Number.POSITIVE_INFINITY },
    firstShown: async () => new Map(),
  },
): Promise<Comparison> {
  const causes = new ReplayedCauses();
  const throttle = new ReplayedThrottle(causes);
  const reachesAny = memoize(
    (route: Route) => !route.muted && panels.some((panel) => reaches(route.target, panel)),
  );
  const counts = { considered: 0, changed: 0, shownBefore: 0, shownAfter: 0 };
  const changes = Object.fromEntries(replayChanges.map((change) => [change, 0])) as Record<
    ReplayChange,
    number
  >;
  const examples = new Examples();
  const matches = new RuleMatches();
  const showings = new PanelShowings(panels);
  const escalations = new ReplayedEscalations(firstShown);
  const sendings = new ChannelSendings();
  const yieldToEventLoop = createYieldToEventLoop();
  for await (const record of recorded) {
    const pause = yieldToEventLoop();
    if (pause) await pause;
    if (!('receivedAt' in record)) {
      causes.change(record);
      throttle.change(record);
      escalations.change(record);
      continue;
    }
    const decision = routeRecorded(record, router, record.receivedAt);
    const throttled = throttle.check(record, decision);
    const outcome: Outcome = {
      throttled: throttled !== undefined,
      suppressed: !throttled && causes.add(record, decision),
    };
    const isShown = !outcome.throttled && !outcome.suppressed;
    const wasShown = record.throttledOn === null && record.route.suppressed === undefined;
    const shownBefore = wasShown && reachesAny(record.route);
    const shownAfter = isShown && reachesAny(decision.route);
    // While it is suppressed, it does not escalate.
    const escalation = outcome.suppressed ? undefined : decision.escalation;
    escalations.add(record, { ...decision, escalation }, !throttled);
    counts.considered += 1;
    matches.add(record.route, decision.route);
    if (wasShown) {
      showings.add('shownBefore', record.route);
      sendings.add('sentBefore', record.route);
    }
    if (isShown) {
      showings.add('shownAfter', decision.route);
      sendings.add('sentAfter', decision.route);
    }
    if (shownBefore) counts.shownBefore += 1;
    if (shownAfter) counts.shownAfter += 1;
    if (!differs(record, decision, outcome)) continue;
    const example = exampleOf(record, decision, outcome);
    const change = changeOf(example, shownBefore, shownAfter);
    counts.changed += 1;
    changes[change] += 1;
    examples.add({ ...example, change });
  }
  const escalated = await escalations.counts(now);
  return {
    ...counts,
    changes,
    escalated: [...escalated.values()].reduce((sum, count) => sum + count, 0),
    rules: matches.of(
      router.rules.map(({ ref }) => ref),
      escalated,
    ),
    panels: showings.changed(),
    channels: sendings.changed(before, after),
    examples: examples.newestFirst(),
  };
}

/** The newest of each kind, so that the few that matter are not lost among the many of another kind. */
class Examples {
  readonly #kept = new Map<ReplayChange, { readonly ordinal: number; readonly example: Example }[]>();
  #added = 0;

  add(example: Example): void {
    const kept = getOrMake(this.#kept, example.change, () => []);
    this.#added += 1;
    kept.push({ ordinal: this.#added, example });
    if (kept.length > maxExamples) kept.shift();
  }

  newestFirst(): Example[] {
    const all = [...this.#kept.values()].flat().sort((a, b) => b.ordinal - a.ordinal);
    return all.map(({ example }) => example);
  }
}

function changeOf(
  { before, after }: Omit<Example, 'change'>,
  shownBefore: boolean,
  shownAfter: boolean,
): ReplayChange {
  if (after.muted && !before.muted) return 'muted';
  if (after.throttled && !before.throttled) return 'throttled';
  if (after.suppressed && !before.suppressed) return 'suppressed';
  if (shownBefore !== shownAfter) return shownAfter ? 'newly-shown' : 'no-longer-shown';
  return shownAfter && !sameTarget(before.target, after.target) ? 'other-panels' : 'other-look';
}

function differs(record: Recorded, decision: Decision, { throttled, suppressed }: Outcome): boolean {
  return (
    record.level !== decision.level ||
    record.ttl !== decision.ttl ||
    record.route.muted !== decision.route.muted ||
    (record.throttledOn !== null) !== throttled ||
    (record.route.suppressed !== undefined) !== suppressed ||
    !sameTarget(record.route.target, decision.route.target)
  );
}

function sameTarget(a: Target, b: Target): boolean {
  if (a === b) return true;
  const [fromA, fromB] = [isEmpty(a), isEmpty(b)];
  if (a.all || b.all || fromA || fromB) return a.all === b.all && fromA === fromB;
  return sameMembers(a.ids, b.ids) && sameMembers(a.tags, b.tags);
}

/** Neither list has duplicates. */
function sameMembers(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((member) => b.includes(member));
}

function exampleOf(record: Recorded, decision: Decision, outcome: Outcome): Omit<Example, 'change'> {
  return {
    id: record.id,
    title: record.title,
    host: record.host,
    receivedAt: iso(record.receivedAt),
    before: {
      level: record.level,
      ttl: record.ttl,
      throttled: record.throttledOn !== null,
      suppressed: record.route.suppressed !== undefined,
      ...shownRoute(record.route),
    },
    after: {
      level: decision.level,
      ttl: decision.ttl,
      ...outcome,
      ...shownRoute(decision.route),
    },
  };
}

function shownRoute({ muted, target, rules }: Route) {
  return {
    muted,
    target: { all: target.all, ids: [...target.ids], tags: [...target.tags] },
    rules: rules.map(({ name }) => name),
  };
}

/** Routes are interned, so there are few of them. */
function memoize(ask: (route: Route) => boolean): (route: Route) => boolean {
  const answers = new WeakMap<Route, boolean>();
  return (route) => getOrMake(answers, route, ask);
}

const pageEntries = 500;

/** Where a replay begins, and whether that is as far back as requested. */
export interface ReplayStart {
  /** The position before the first entry to look at. */
  readonly after: number;
  readonly head: number;
  readonly complete: boolean;
}

/**
 * Finds the first entry received at `since` or later, among the newest `most`. Uses a binary search, because times ascend with
 * positions unless a clock is set back.
 */
export async function replayStart(
  history: Pick<History, 'bounds' | 'readAfter'>,
  tenant: TenantId,
  since: number,
  most: number,
): Promise<ReplayStart> {
  const { head, first } = await history.bounds(tenant);
  const floor = Math.max(first - 1, head - most);
  let low = floor;
  let high = head;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const [entry] = (await history.readAfter(tenant, middle, 1)).entries;
    if (entry && timeOf(entry) < since) low = Math.max(middle + 1, entry.position);
    else high = middle;
  }
  // False if the limit of entries, and not the time or retention, decided the start.
  const complete = low > floor || floor === first - 1;
  return { after: low, head, complete };
}

/** The entries from the start to the head at the time of the call, oldest first, one page at a time. */
export async function* replayed(
  history: Pick<History, 'readAfter'>,
  tenant: TenantId,
  { after, head }: ReplayStart,
): AsyncGenerator<Entry> {
  let position = after;
  while (position < head) {
    const { entries } = await history.readAfter(tenant, position, pageEntries);
    const last = entries.at(-1);
    if (!last) return;
    for (const entry of entries) if (entry.position <= head) yield entry;
    position = last.position;
  }
}

function timeOf(entry: Entry): number {
  return entry.kind === 'notification' ? entry.receivedAt : entry.at;
}

/** Throttles in a replay: decides as intake does, from the entries of the log alone. */

/** A replay has its own throttle, so any number will do. */
const replayTenant: TenantId = 0;
/** As many as a throttle remembers. */
const maxShown = 10_000;

type ShownOnce = Pick<Decision, 'level' | 'rank'> &
  Pick<Recorded, 'id' | 'key' | 'route'> &
  Pick<Route, 'suppress'>;

class ReplayedThrottle {
  readonly #throttle = new Throttle();
  readonly #causes: ReplayedCauses;
  /** What a throttle has shown and nobody has cleared, oldest first. */
  readonly #shown = new Map<string, ShownOnce>();

  constructor(causes: ReplayedCauses) {
    this.#causes = causes;
  }

  /** Call it for each change of a notification, in the order of the log. */
  change(entry: EntryAbout): void {
    if (entry.kind === 'clear' && entry.reason === 'cleared') this.#shown.delete(entry.id);
  }

  /** The notification that this one is counted on; undefined if it is shown. */
  check(
    { id, key, receivedAt, route }: Recorded,
    { throttle: demands, level, rank, route: { suppress } }: Decision,
  ): Throttled | undefined {
    const shown = this.#shown;
    for (;;) {
      const counted = this.#throttle.check(replayTenant, demands, id, receivedAt);
      if (!counted) break;
      const on = shown.get(counted.on);
      const suppressed = on && this.#causes.isSuppressed(on, on.suppress, receivedAt) ? on : null;
      const alarm = { shelved: null, suppressed };
      if (!mustShow({ level, rank, key }, on && { ...on, cleared: null, alarm })) return counted;
      this.#throttle.forget(replayTenant, demands, counted.on, undefined);
    }
    if (demands.length > 0) shown.set(id, { id, level, rank, key, route, ...(suppress && { suppress }) });
    const [oldest] = shown.keys();
    if (shown.size > maxShown && oldest !== undefined) shown.delete(oldest);
    return undefined;
  }
}
