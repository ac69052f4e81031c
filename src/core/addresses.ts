/** IP addresses as text, as sortable keys, and as ranges of keys. */
import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { badRequest } from './errors.ts';

/** 16 bytes, most significant first; IPv4 as ::ffff:a.b.c.d. Byte order is address order. */
export type AddressKey = Uint8Array;

/** Every address from `low` to `high`, both included. */
export interface AddressRange {
  readonly low: AddressKey;
  readonly high: AddressKey;
}

const v4Offset = 12;

/**
 * The canonical text of an address: dotted decimal for IPv4 and for IPv4 mapped into IPv6, RFC 5952 for IPv6. Undefined when
 * `text` is not an address. Zone ids, and octal, hexadecimal and short forms of IPv4, are not accepted.
 */
export function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  const key = readV6(text);
  return key && addressText(key);
}

/**
 * The canonical text of an address or CIDR block; host bits stay as written. Undefined when `text` is neither, and for a
 * block of IPv4 addresses mapped into IPv6, because its prefix length does not fit the IPv4 text.
 */
export function canonicalNetwork(text: string): string | undefined {
  const [, given = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = canonicalAddress(given);
  if (address === undefined || prefix === undefined) return address;
  const isV6 = address.includes(':');
  if (isV6 !== given.includes(':') || Number(prefix) > (isV6 ? 128 : 32)) return undefined;
  return `${address}/${Number(prefix)}`;
}

/** The key of an address; undefined when `text` is not an address. */
export function findAddressKey(text: string): AddressKey | undefined {
  if (!isIPv4(text)) return readV6(text);
  const key = new Uint8Array(16);
  key.fill(0xff, v4Offset - 2, v4Offset);
  key.set(text.split('.').map(Number), v4Offset);
  return key;
}

/** The key of an address. @throws TypeError when `text` is not an address. */
export function addressKey(text: string): AddressKey {
  const key = findAddressKey(text);
  if (!key) throw new TypeError(`"${text}" is no IP address`);
  return key;
}

/** The canonical text of a key. */
export function addressText(key: AddressKey): string {
  return isV4(key) ? key.subarray(v4Offset).join('.') : new ipaddr.IPv6([...key]).toRFC5952String();
}

/** Compare function for sorting. */
export function compareAddresses(a: AddressKey, b: AddressKey): number {
  for (let i = 0; i < 16; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * Reads an address (10.0.0.5), a CIDR block (10.0.0.0/8; host bits are masked away) or a range (10.0.0.1-10.0.0.9),
 * v4 or v6. As IPv4 sorts within IPv6, ::/0 is every address and 0.0.0.0/0 every IPv4 address.
 *
 * @throws AppError `bad-request`, with a message that starts with the quoted text.
 */
export function parseAddressRange(text: string): AddressRange {
  const slash = text.indexOf('/');
  if (slash >= 0) return block(text, text.slice(0, slash), text.slice(slash + 1));
  const dash = text.indexOf('-');
  if (dash >= 0) return between(text, text.slice(0, dash).trim(), text.slice(dash + 1).trim());
  const key = findAddressKey(text);
  if (!key) throw rangeError(text);
  return { low: key, high: key };
}

/** Whether `outer` holds every address of `inner`. */
export function containsRange(outer: AddressRange, inner: AddressRange): boolean {
  return compareAddresses(outer.low, inner.low) <= 0 && compareAddresses(inner.high, outer.high) <= 0;
}

/** Returns a test whether an address is in any of the ranges. The test is a binary search. */
export function compileAddressSet(ranges: readonly AddressRange[]): (key: AddressKey) => boolean {
  const disjoint: AddressRange[] = [];
  for (const range of ranges.toSorted((a, b) => compareAddresses(a.low, b.low))) {
    const last = disjoint.at(-1);
    if (!last || compareAddresses(last.high, range.low) < 0) disjoint.push(range);
    else if (compareAddresses(last.high, range.high) < 0)
      disjoint[disjoint.length - 1] = { low: last.low, high: range.high };
  }
  return (key) => {
    let low = 0;
    let high = disjoint.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareAddresses((disjoint[middle] as AddressRange).low, key) <= 0) low = middle + 1;
      else high = middle;
    }
    const last = disjoint[low - 1];
    return last !== undefined && compareAddresses(key, last.high) <= 0;
  };
}

/**
 * As {@link compileAddressSet}, of addresses, CIDR blocks and ranges as text. A text that is no address is in none.
 * @throws AppError `bad-request` for an entry that is none of them.
 */
export function addressSet(entries: readonly string[]): (address: string) => boolean {
  const isWithin = compileAddressSet(entries.map(parseAddressRange));
  return (address) => {
    const key = findAddressKey(address);
    return key !== undefined && isWithin(key);
  };
}

const rangeError = (text: string, hint = 'write 10.0.0.5, 10.0.0.0/8 or 10.0.0.1-10.0.0.9, in v4 or v6') =>
  badRequest(`"${text}" is no address, CIDR block or range; ${hint}`);

function block(text: string, address: string, prefix: string): AddressRange {
  const key = findAddressKey(address);
  if (!key) throw rangeError(text);
  // A block of mapped addresses has an IPv6 prefix length, although its address is shown as IPv4.
  const bits = address.includes(':') ? 128 : 32;
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > bits) throw rangeError(text, `a prefix is 0–${bits}`);
  const low = key.slice();
  const high = key.slice();
  for (let bit = 128 - bits + Number(prefix); bit < 128; bit++) {
    const mask = 0x80 >> (bit & 7);
    low[bit >> 3] = (low[bit >> 3] as number) & ~mask;
    high[bit >> 3] = (high[bit >> 3] as number) | mask;
  }
  return { low, high };
}

function between(text: string, from: string, to: string): AddressRange {
  const low = findAddressKey(from);
  const high = findAddressKey(to);
  if (!low || !high) throw rangeError(text, 'a range is two whole addresses, as in 10.0.0.1-10.0.0.9');
  if (isV4(low) !== isV4(high)) throw rangeError(text, 'both ends are IPv4 or both are IPv6');
  if (compareAddresses(low, high) > 0) throw rangeError(text, 'the lower end comes first');
  return { low, high };
}

function isV4(key: AddressKey): boolean {
  for (let i = 0; i < 10; i++) if (key[i] !== 0) return false;
  return key[10] === 0xff && key[11] === 0xff;
}

function readV6(text: string): AddressKey | undefined {
  // A zone id (fe80::1%eth0) has a meaning only on the machine that wrote it.
  if (!isIPv6(text) || text.includes('%')) return undefined;
  // ipaddr.js reads ::10.0.0.5 as a mapped IPv4 address. Hexadecimal groups avoid that.
  const groups = text.replace(/[\d.]+\.\d+$/, (quad) => {
    const [a = 0, b = 0, c = 0, d = 0] = quad.split('.').map(Number);
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  });
  return Uint8Array.from(ipaddr.IPv6.parse(groups).toByteArray());
}

const bitsOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(2).padStart(8, '0'));

/** An address as text of 128 bits. It is in a block if it starts with the bits of the block. */
export function bitsOf(key: AddressKey): string {
  let bits = '';
  for (let i = 0; i < key.length; i++) bits += bitsOfByte[key[i] as number];
  return bits;
}

/** Splits a range into the fewest CIDR blocks, as their first bits: one if the range is a block, at most 254. */
export function blocksOf({ low, high }: AddressRange): readonly string[] {
  const blocks: string[] = [];
  const last = BigInt(`0b${bitsOf(high)}`);
  for (let first = BigInt(`0b${bitsOf(low)}`); first <= last; ) {
    let free = 0n;
    while (
      free < 128n &&
      (first & ((1n << (free + 1n)) - 1n)) === 0n &&
      first + (1n << (free + 1n)) - 1n <= last
    )
      free += 1n;
    blocks.push(
      first
        .toString(2)
        .padStart(128, '0')
        .slice(0, 128 - Number(free)),
    );
    first += 1n << free;
  }
  return blocks;
}
