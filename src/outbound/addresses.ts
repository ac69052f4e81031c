/** Which addresses the server may connect to on behalf of a tenant. */
import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { addressSet, findAddressKey } from '#core/addresses.ts';
import {
  createLookupQueue,
  createSingleFlight,
  type Enqueue,
  type OnResult,
  type SingleFlight,
} from './lookup-queue.ts';

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
