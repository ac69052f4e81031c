/** Which addresses the server may connect to on behalf of a tenant. */
import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { addressSet, findAddressKey } from '#core/addresses.ts';

/** The address is not allowed, or none of the name's addresses is. */
export class ForbiddenAddress extends Error {
  constructor(host: string) {
    super(`${host} is not a public address. Ask the operator to allow its network in BELFRY_OUTBOUND_ALLOW.`);
    this.name = 'ForbiddenAddress';
  }
}

/** Azure answers platform requests there, credentials among them, although the address is a public one. */
const azurePlatform = '168.63.129.16';

/** 2000::/3, from which all public addresses are given out. Networks of meshes, for instance, use 200::/7. */
const publicV6 = ipaddr.IPv6.parse('2000::');

/** Whether an address may be connected to. Undefined allows every address. */
export type AddressGuard = ((address: string) => boolean) | undefined;

/**
 * Allows public unicast addresses, and those in `allow` (addresses and CIDR blocks). Loopback, private, link-local, shared
 * (CGNAT) and documentation networks are not public, nor are IPv6 addresses that contain an IPv4 address (mapped ones count as IPv4).
 */
export function createAddressGuard(allow: readonly string[]): (address: string) => boolean {
  const isAllowed = addressSet(allow);
  return (address) => {
    if (!findAddressKey(address)) return false;
    if (isAllowed(address)) return true;
    const parsed = ipaddr.process(address);
    if (parsed instanceof ipaddr.IPv6 && !parsed.match(publicV6, 3)) return false;
    return parsed.range() === 'unicast' && parsed.toString() !== azurePlatform;
  };
}

/** @throws ForbiddenAddress when the host is an address that is not allowed. {@link guardedLookup} checks names. */
export function assertLiteralAllowed(host: string, guard: AddressGuard): void {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  if (guard && findAddressKey(address) && !guard(address)) throw new ForbiddenAddress(address);
}

/** Resolves names for the connection itself, so that a name cannot change between the check and the connection. */
export function guardedLookup(
  guard: AddressGuard,
  resolve: typeof lookup = lookup,
  enqueue: Enqueue | undefined = guard && createLookupQueue()(undefined),
  singleFlight: SingleFlight = createSingleFlight()(undefined),
): LookupFunction {
  return (host, options, callback) => {
    const start = (onResult: OnResult) => {
      const run = (done: () => void) =>
        resolve(host, { ...options, all: true }, (error, found: LookupAddress[] = []) => {
          done();
          onResult(error, found);
        });
      if (enqueue) enqueue(run, () => onResult(new Error(`too many names wait to be resolved: ${host}`), []));
      else run(() => undefined);
    };
    const key = JSON.stringify([host, options.family, options.hints, options.order]);
    singleFlight(key, start, (error, found) => {
      if (error) return callback(error, []);
      const allowed = guard ? found.filter(({ address }) => guard(address)) : found;
      const [first] = allowed;
      if (!first) return callback(new ForbiddenAddress(host), []);
      if (options.all) callback(null, [...allowed]);
      else callback(null, first.address, first.family);
    });
  };
}

/** Each lookup holds one of the process' four threads until the name's own server answers. */
const lookupsAtOnce = 2;
/** The caller has given up by then. */
const longestWaitMs = 15_000;

/** The tenant for which names are looked up; undefined for lookups without an owner. */
export type Owner = string | number | undefined;

type OnResult = (error: Error | null, found: readonly LookupAddress[]) => void;
/** Starts a lookup, or joins the current one with the same key. */
type SingleFlight = (key: string, start: (onResult: OnResult) => void, onResult: OnResult) => void;

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
type Enqueue = (run: Run, refuse: () => void) => void;

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
