/** Limits the name lookups that tenants cause: a fair queue, and one lookup for equal requests. */
import type { LookupAddress } from 'node:dns';

/** Each lookup holds one of the process' four threads until the name's own server answers. */
const lookupsAtOnce = 2;
/** The caller has given up by then. */
const longestWaitMs = 15_000;

/** The tenant for which names are looked up; undefined for lookups without an owner. */
export type Owner = string | number | undefined;

export type OnResult = (error: Error | null, found: readonly LookupAddress[]) => void;
/** Starts a lookup, or joins the current one with the same key. */
export type SingleFlight = (key: string, start: (onResult: OnResult) => void, onResult: OnResult) => void;

/** An owner's calls with a key that is queued or being looked up share one lookup and its result. */
export function createSingleFlight(): (owner: Owner) => SingleFlight {
  const running = new Map<string, OnResult[]>();
  return (owner) => (name, start, onResult) => {
    const key = JSON.stringify([owner, name]);
    const joined = running.get(key);
    if (joined) {
      joined.push(onResult);
      return;
    }
    const callbacks = [onResult];
    running.set(key, callbacks);
    start((error, found) => {
      running.delete(key);
      for (const callback of callbacks) callback(error, found);
    });
  };
}

type Run = (done: () => void) => void;
/** Calls `run` when it is this lookup's turn, or `refuse` when it has waited too long. */
export type Enqueue = (run: Run, refuse: () => void) => void;

interface Waiting {
  readonly owner: Owner;
  readonly run: Run;
  readonly refuse: () => void;
  readonly since: number;
}

/**
 * Runs two lookups at once, but only one of each owner; the next is of the owner whose last turn was longest ago. Lookups
 * without an owner do not block each other.
 */
export function createLookupQueue(): (owner: Owner) => Enqueue {
  const waiting: Waiting[] = [];
  const running = new Set<Waiting>();
  /** The owners that had a turn, the latest at the end. */
  let served: Owner[] = [];

  const takeNext = (): Waiting | undefined => {
    const isFree = ({ owner }: Waiting) =>
      owner === undefined || ![...running].some((each) => each.owner === owner);
    const [first] = waiting
      .filter(isFree)
      .toSorted((a, b) => served.lastIndexOf(a.owner) - served.lastIndexOf(b.owner));
    if (first) waiting.splice(waiting.indexOf(first), 1);
    return first;
  };
  const next = () => {
    while (running.size < lookupsAtOnce) {
      const first = takeNext();
      if (!first) break;
      if (performance.now() - first.since > longestWaitMs) {
        first.refuse();
        continue;
      }
      running.add(first);
      served = [...served.filter((owner) => owner !== first.owner), first.owner];
      first.run(() => {
        running.delete(first);
        next();
      });
    }
    if (waiting.length === 0 && running.size === 0) served = [];
  };
  return (owner) => (run, refuse) => {
    waiting.push({ owner, run, refuse, since: performance.now() });
    next();
  };
}
