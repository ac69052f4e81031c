/** Which addresses the server may connect to on behalf of a tenant. */
import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { compileAddressSet, findAddressKey, parseAddressRange } from '#core/addresses.ts';

/** An address that may not be connected to, or a name that has no other. */
export class ForbiddenAddress extends Error {
  constructor(host: string) {
    super(`${host} is not a public address. Ask the operator to allow its network in BELFRY_OUTBOUND_ALLOW.`);
    this.name = 'ForbiddenAddress';
  }
}

/** Azure answers platform requests there, credentials among them, although the address is a public one. */
const azurePlatform = '168.63.129.16';

/** Whether an address may be connected to. Undefined stands for every address. */
export type AddressGuard = ((address: string) => boolean) | undefined;

/**
 * Allows public unicast addresses, and those in `allow` (addresses and CIDR blocks). Loopback, private, link-local, shared
 * (CGNAT) and documentation networks are none, nor is what contains an IPv4 address within IPv6 (mapped ones count as IPv4).
 */
export function createAddressGuard(allow: readonly string[]): (address: string) => boolean {
  const isAllowed = compileAddressSet(allow.map(parseAddressRange));
  return (address) => {
    const key = findAddressKey(address);
    if (!key) return false;
    if (isAllowed(key)) return true;
    const parsed = ipaddr.process(address);
    return parsed.range() === 'unicast' && parsed.toString() !== azurePlatform;
  };
}

/** @throws ForbiddenAddress when the host is an address that is not allowed. A name is judged by {@link guardedLookup}. */
export function assertLiteralAllowed(host: string, guard: AddressGuard): void {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  if (guard && findAddressKey(address) && !guard(address)) throw new ForbiddenAddress(address);
}

/** Lookups at a time: each holds one of the process' four threads for as long as the name's own server likes. */
const lookupsAtOnce = 2;
/** Who asked has given up by then. */
const longestWaitMs = 15_000;

/** Resolves names for the connection itself, so that a name cannot change between the check and the connection. */
export function guardedLookup(
  guard: AddressGuard,
  resolve: typeof lookup = lookup,
  inTurn: InTurn | undefined = guard && createTurns()(undefined),
  shared: Shared = createSharing()(undefined),
): LookupFunction {
  return (host, options, callback) => {
    const look = (tell: Told) => {
      const ask = (done: () => void) =>
        resolve(host, { ...options, all: true }, (error, found: LookupAddress[] = []) => {
          done();
          tell(error, found);
        });
      if (inTurn) inTurn(ask, () => tell(new Error(`too many names wait to be resolved: ${host}`), []));
      else ask(() => undefined);
    };
    shared(JSON.stringify([host, options.family, options.hints, options.order]), look, (error, found) => {
      if (error) return callback(error, []);
      const allowed = guard ? found.filter(({ address }) => guard(address)) : found;
      const [first] = allowed;
      if (!first) return callback(new ForbiddenAddress(host), []);
      if (options.all) callback(null, [...allowed]);
      else callback(null, first.address, first.family);
    });
  };
}

type Told = (error: Error | null, found: readonly LookupAddress[]) => void;
type Shared = (name: string, look: (tell: Told) => void, told: Told) => void;

/** An owner who asks for what is being looked up for them already, or waits for its turn, gets the same answer. */
export function createSharing(): (owner: Owner) => Shared {
  const waiting = new Map<string, Told[]>();
  return (owner) => (name, look, told) => {
    const key = JSON.stringify([owner, name]);
    const known = waiting.get(key);
    if (known) {
      known.push(told);
      return;
    }
    const all = [told];
    waiting.set(key, all);
    look((error, found) => {
      waiting.delete(key);
      for (const each of all) each(error, found);
    });
  };
}

type Turn = (done: () => void) => void;
type InTurn = (turn: Turn, refuse: () => void) => void;
export type Owner = string | number | undefined;

interface Waiting {
  readonly owner: Owner;
  readonly turn: Turn;
  readonly refuse: () => void;
  readonly since: number;
}

/**
 * Begins two at once, and one of each owner: first of the owner who has waited longest for a turn. Nobody is the owner of
 * undefined. One that has waited too long is refused.
 */
export function createTurns(): (owner: Owner) => InTurn {
  const waiting: Waiting[] = [];
  const running = new Set<Waiting>();
  /** The owners that had a turn, the last one at the end. */
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
      first.turn(() => {
        running.delete(first);
        next();
      });
    }
    if (waiting.length === 0 && running.size === 0) served = [];
  };
  return (owner) => (turn, refuse) => {
    waiting.push({ owner, turn, refuse, since: performance.now() });
    next();
  };
}
