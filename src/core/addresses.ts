/** IP addresses as text, as sortable keys, and as ranges of keys. */
import { badRequest } from './errors.ts';

/** 16 bytes, most significant first; IPv4 as ::ffff:a.b.c.d. Byte order is address order. */
export type AddressKey = Uint8Array;

/** Every address from `low` to `high`, both included. */
export interface AddressRange {
  readonly low: AddressKey;
  readonly high: AddressKey;
}

const v4Offset = 12;
const scratch: AddressKey = new Uint8Array(16);

/**
 * The one text of an address: dotted decimal for IPv4 and for IPv4 mapped into IPv6, RFC 5952 for IPv6. Undefined when
 * `text` is no address: zone ids, octal, hexadecimal and short forms of IPv4 are none.
 */
export function canonicalAddress(text: string): string | undefined {
  // Of IPv4 nothing but the canonical text is taken.
  if (!text.includes(':')) return readQuad(text, scratch, v4Offset) ? text : undefined;
  const key = readV6(text);
  return key && addressText(key);
}

/** The key of an address, undefined when `text` is none. */
export function findAddressKey(text: string): AddressKey | undefined {
  return text.includes(':') ? readV6(text) : readV4(text);
}

/** The key of an address that is known to be one. @throws TypeError when it is not. */
export function addressKey(text: string): AddressKey {
  const key = findAddressKey(text);
  if (!key) throw new TypeError(`"${text}" is no IP address`);
  return key;
}

/** The canonical text of a key. */
export function addressText(key: AddressKey): string {
  return isV4(key) ? key.subarray(v4Offset).join('.') : v6Text(key);
}

/** Less than zero when `a` sorts before `b`, zero when they are the same address. */
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
  if (!key) throw fault(text);
  return { low: key, high: key };
}

/** Tells whether an address is in any of the ranges, in time that grows with the logarithm of their number. */
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

const fault = (text: string, hint = 'write 10.0.0.5, 10.0.0.0/8 or 10.0.0.1-10.0.0.9, in v4 or v6') =>
  badRequest(`"${text}" is no address, CIDR block or range; ${hint}`);

function block(text: string, address: string, prefix: string): AddressRange {
  const key = findAddressKey(address);
  if (!key) throw fault(text);
  // A block of mapped addresses counts its bits as IPv6 does, whatever the address is shown as.
  const bits = address.includes(':') ? 128 : 32;
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > bits) throw fault(text, `a prefix is 0–${bits}`);
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
  if (!low || !high) throw fault(text, 'a range is two whole addresses, as in 10.0.0.1-10.0.0.9');
  if (isV4(low) !== isV4(high)) throw fault(text, 'both ends are IPv4 or both are IPv6');
  if (compareAddresses(low, high) > 0) throw fault(text, 'the lower end comes first');
  return { low, high };
}

function isV4(key: AddressKey): boolean {
  for (let i = 0; i < 10; i++) if (key[i] !== 0) return false;
  return key[10] === 0xff && key[11] === 0xff;
}

function readV4(text: string): AddressKey | undefined {
  const key = new Uint8Array(16);
  key[10] = 0xff;
  key[11] = 0xff;
  return readQuad(text, key, v4Offset) ? key : undefined;
}

/** Four decimal numbers without leading zeros, written to four bytes of `key`. */
function readQuad(text: string, key: AddressKey, offset: number): boolean {
  let part = 0;
  let digits = 0;
  let value = 0;
  for (let i = 0; i <= text.length; i++) {
    const code = i < text.length ? text.charCodeAt(i) : 0x2e;
    if (code === 0x2e) {
      if (digits === 0 || part > 3) return false;
      key[offset + part] = value;
      part += 1;
      digits = 0;
      value = 0;
    } else {
      if (code < 0x30 || code > 0x39 || (digits > 0 && value === 0)) return false;
      value = value * 10 + code - 0x30;
      digits += 1;
      if (value > 255) return false;
    }
  }
  return part === 4;
}

function readV6(text: string): AddressKey | undefined {
  if (text.length > 45) return undefined;
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const compressed = halves.length === 2;
  const head = readGroups(halves[0] as string, !compressed);
  const tail = compressed ? readGroups(halves[1] as string, true) : [];
  if (!head || !tail) return undefined;
  const length = head.length + tail.length;
  if (compressed ? length > 14 : length !== 16) return undefined;
  const key = new Uint8Array(16);
  key.set(head, 0);
  key.set(tail, 16 - tail.length);
  return key;
}

/** The bytes of colon-separated groups; `last`: the text may end in a dotted quad. */
function readGroups(text: string, last: boolean): number[] | undefined {
  if (text === '') return [];
  const bytes: number[] = [];
  const groups = text.split(':');
  for (const [i, group] of groups.entries()) {
    if (last && i === groups.length - 1 && group.includes('.')) {
      const quad = new Uint8Array(4);
      if (!readQuad(group, quad, 0)) return undefined;
      bytes.push(...quad);
    } else {
      if (!/^[0-9a-fA-F]{1,4}$/.test(group)) return undefined;
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 0xff);
    }
  }
  return bytes;
}

/** RFC 5952: lower case, no leading zeros, the longest run of two or more zero groups (the first of equals) as "::". */
function v6Text(key: AddressKey): string {
  const groups: string[] = [];
  let start = -1;
  let length = 1;
  for (let i = 0, run = 0; i < 8; i++) {
    const value = ((key[2 * i] as number) << 8) | (key[2 * i + 1] as number);
    groups.push(value.toString(16));
    run = value === 0 ? run + 1 : 0;
    if (run > length) {
      length = run;
      start = i - run + 1;
    }
  }
  if (start < 0) return groups.join(':');
  return `${groups.slice(0, start).join(':')}::${groups.slice(start + length).join(':')}`;
}
