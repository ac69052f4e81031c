import type { lookup } from 'node:dns';
import { expect, test } from 'vitest';
import {
  type AddressGuard,
  assertLiteralAllowed,
  createAddressGuard,
  createLookupQueue,
  createSingleFlight,
  guardedLookup,
} from './addresses.ts';

const internal =
  `127.0.0.1 127.9.9.9 0.0.0.0 10.1.2.3 172.16.0.1 192.168.0.1 169.254.169.254 100.64.0.1 100.100.100.200 192.0.0.192
  198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 192.0.2.1 168.63.129.16
  ::1 :: fe80::1 fec0::1 fd00:ec2::254 ff02::1 ::ffff:127.0.0.1 ::ffff:169.254.169.254 ::ffff:7f00:1 ::127.0.0.1
  64:ff9b::7f00:1 64:ff9b:1::a00:1 2002:7f00:1:: 2001::1 2001:db8::1 100::1 ::7f00:1 ::ffff:0:0:7f00:1 200::1 300::1 4000::1`.split(
    /\s+/,
  );

test.each(internal)('%s is not connected to', (address) => {
  expect(createAddressGuard([])(address)).toBe(false);
});

test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8'])(
  '%s is public',
  (address) => {
    expect(createAddressGuard([])(address)).toBe(true);
  },
);

test('the operator may allow networks, in every form of their addresses', () => {
  const guard = createAddressGuard(['10.0.0.0/8', 'fd00::/8']);
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', 'fd12::1']) expect(guard(address)).toBe(true);
  for (const address of ['192.168.0.1', '127.0.0.1', 'fe80::1', 'no address'])
    expect(guard(address)).toBe(false);
});

test('an address in a URL is judged as URLs read it', () => {
  const guard = createAddressGuard([]);
  for (const url of [
    'http://127.0.0.1/',
    'http://0x7f.1/',
    'http://2130706433/',
    'http://[::1]/',
    'http://[::127.0.0.1]/',
    'http://017700000001/',
  ])
    expect(() => assertLiteralAllowed(new URL(url).hostname, guard), url).toThrow('BELFRY_OUTBOUND_ALLOW');
  expect(() => assertLiteralAllowed('example.org', guard)).not.toThrow();
});

test('a name is judged by what it resolves to, for the connection itself', async () => {
  const resolve = (allow: string[], all: boolean) =>
    new Promise((done) =>
      guardedLookup(createAddressGuard(allow))('localhost', { all, family: 4 }, (error, ...found) =>
        done(error ? error.message : found),
      ),
    );
  expect(await resolve([], true)).toContain('localhost is not a public address');
  expect(await resolve(['127.0.0.0/8'], true)).toEqual([[{ address: '127.0.0.1', family: 4 }]]);
  expect(await resolve(['127.0.0.0/8'], false)).toEqual(['127.0.0.1', 4]);
});

test('names of tenants are resolved two at a time, so that slow ones hold two threads; those of the operator at once', () => {
  const begin = (guard: AddressGuard) => {
    const begun: (() => void)[] = [];
    const resolve = (_host: string, _options: object, done: (error: null, found: []) => void) =>
      begun.push(() => done(null, []));
    const look = guardedLookup(guard, resolve as unknown as typeof lookup);
    for (const host of ['a', 'b', 'c', 'd']) look(host, {}, () => undefined);
    return begun;
  };
  expect(begin(undefined)).toHaveLength(4);
  const begun = begin(createAddressGuard([]));
  expect(begun).toHaveLength(2);
  begun[1]?.();
  expect(begun).toHaveLength(3);
});

test('names of one tenant are resolved one at a time, and the owner whose last turn was longest ago is next', () => {
  const begun: [string, () => void][] = [];
  const queue = createLookupQueue();
  const add = (owner: string, name: string) =>
    queue(owner)(
      (done) => begun.push([name, done]),
      () => undefined,
    );
  for (const name of ['a1', 'a2', 'a3']) add('a', name);
  for (const name of ['b1', 'b2']) add('b', name);
  add('c', 'c1');
  expect(begun.map(([name]) => name)).toEqual(['a1', 'b1']);
  // Of a, more are waiting for longer; c has had none.
  for (let i = 0; i < 6; i += 1) begun[i]?.[1]();
  expect(begun.map(([name]) => name)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

test('a name that an owner has asked for already is resolved once for all who wait for it', () => {
  const begun: ((address: string) => void)[] = [];
  const resolve = (_host: string, _options: object, done: (error: null, found: object[]) => void) =>
    begun.push((address) => done(null, [{ address, family: 4 }]));
  const [queue, singleFlight] = [createLookupQueue(), createSingleFlight()];
  const look = (owner: string, host: string) => {
    const guarded = guardedLookup(
      createAddressGuard([]),
      resolve as unknown as typeof lookup,
      queue(owner),
      singleFlight(owner),
    );
    guarded(host, { all: false }, (error, address) => results.push([owner, error?.name ?? String(address)]));
  };
  const results: [string, string][] = [];
  for (const owner of ['a', 'a', 'b', 'a']) look(owner, 'push.example.org');
  expect(begun).toHaveLength(2);
  begun[0]?.('8.8.8.8');
  expect(results).toEqual(Array(3).fill(['a', '8.8.8.8']));
  // Each owner is checked separately, and a later call starts a new lookup.
  begun[1]?.('10.0.0.1');
  expect(results.at(-1)).toEqual(['b', 'ForbiddenAddress']);
  look('a', 'push.example.org');
  expect(begun).toHaveLength(3);
});
