/** Ranges of addresses as blocks, each of all addresses that begin with the same hexadecimal digits. */
import { type AddressKey, type AddressRange, compareAddresses, containsRange } from '../addresses.ts';
import { type AddressFamily, addressHex } from './index-terms.ts';

interface Block {
  readonly family: AddressFamily;
  readonly digits: string;
}

/** The most blocks of an address range; otherwise one larger block is used. */
const mostBlocks = 64;

/** The fewest blocks that hold the addresses of a range, and no others if `exact`. */
export function blocksOf(range: AddressRange): {
  readonly blocks: readonly Block[];
  readonly exact: boolean;
} {
  const ends = [...families(range)];
  const blocks = ends.flatMap(([low, high]) => exactBlocks(low, high));
  if (blocks.length <= mostBlocks) return { blocks, exact: true };
  return { blocks: ends.map(([low, high]) => commonBlock(low, high)), exact: false };
}

const firstV4: AddressKey = Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0]);
const lastV4: AddressKey = Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255]);

/** Splits a range at the bounds of IPv4 within IPv6. */
export function* families({ low, high }: AddressRange): Iterable<[AddressKey, AddressKey]> {
  const isBelow = compareAddresses(low, firstV4) < 0;
  const isAbove = compareAddresses(high, lastV4) > 0;
  if (isBelow) yield [low, lowest(high, neighbour(firstV4, -1))];
  if (compareAddresses(low, lastV4) <= 0 && compareAddresses(high, firstV4) >= 0)
    yield [isBelow ? firstV4 : low, isAbove ? lastV4 : high];
  if (isAbove) yield [compareAddresses(low, lastV4) > 0 ? low : neighbour(lastV4, 1), high];
}

const lowest = (a: AddressKey, b: AddressKey) => (compareAddresses(a, b) < 0 ? a : b);

function neighbour(key: AddressKey, step: 1 | -1): AddressKey {
  const hex = (BigInt(`0x${Buffer.from(key).toString('hex')}`) + BigInt(step)).toString(16).padStart(32, '0');
  return Uint8Array.from(Buffer.from(hex, 'hex'));
}

/** The fewest blocks that hold every address from `low` to `high`, which are of one family, and no other. May stop when there are too many. */
function exactBlocks(low: AddressKey, high: AddressKey): Block[] {
  const { family, digits: from } = addressHex(low);
  const { digits: upTo } = addressHex(high);
  const blocks: Block[] = [];
  const visit = (prefix: string) => {
    if (blocks.length > mostBlocks) return;
    const first = prefix.padEnd(from.length, '0');
    const last = prefix.padEnd(from.length, 'f');
    if (last < from || first > upTo) return;
    if (first >= from && last <= upTo) blocks.push({ family, digits: prefix });
    else for (const digit of '0123456789abcdef') visit(prefix + digit);
  };
  visit('');
  return blocks;
}

function commonBlock(low: AddressKey, high: AddressKey): Block {
  const { family, digits: from } = addressHex(low);
  const { digits: upTo } = addressHex(high);
  let length = 0;
  while (length < from.length && from[length] === upTo[length]) length += 1;
  return { family, digits: from.slice(0, length) };
}

/** Ranges of addresses that begin with a typed prefix, for completion. */

const v4Head = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/**
 * Ranges that hold every address whose canonical text starts with `prefix`, and perhaps others, in order; none when no address
 * starts like that. A prefix does not determine what `::` abbreviates.
 */
export function addressesFrom(prefix: string): AddressRange[] {
  if (prefix === '') return [rangeUnder([])];
  const v4 = /^[0-9.]+$/.test(prefix) ? v4Ranges(prefix) : [];
  const v6 = /^[0-9a-f:]+$/.test(prefix) ? v6Ranges(prefix) : [];
  // IPv4 addresses sort among the IPv6 addresses that begin with 0.
  return [...v6, ...v4.filter((one) => !v6.some((other) => containsRange(other, one)))].sort(byLow);
}

function v4Ranges(prefix: string): AddressRange[] {
  const parts = prefix.split('.');
  const last = parts.pop() as string;
  if (parts.length > 3 || parts.some((part) => !/^\d{1,3}$/.test(part) || Number(part) > 255)) return [];
  const head = [...v4Head, ...parts.map(Number)];
  if (last === '') return [rangeUnder(head)];
  return Array.from({ length: 256 }, (_, octet) => octet)
    .filter((octet) => String(octet).startsWith(last))
    .map((octet) => rangeUnder([...head, octet]));
}

function v6Ranges(prefix: string): AddressRange[] {
  const isShort = prefix.includes('::');
  const parts = (prefix.split('::')[0] as string).split(':');
  const last = isShort ? '' : (parts.pop() as string);
  const known = parts.filter((part) => part !== '');
  if (known.length > 7 || [...known, last].some((part) => part.length > 4)) return [];
  const head = known.flatMap((part) => bytesOf(Number.parseInt(part, 16)));
  if (last === '') return [rangeUnder(head)];
  // Groups have no leading zeros: 2 may become 2, 2x, 2xx or 2xxx. A group of zeros may be left out with others.
  if (last === '0') return [rangeUnder([...head, 0, 0])];
  const first = Number.parseInt(last, 16);
  return Array.from({ length: 5 - last.length }, (_, more) => {
    const low = first * 16 ** more;
    return {
      low: key([...head, ...bytesOf(low)], 0),
      high: key([...head, ...bytesOf(low + 16 ** more - 1)], 0xff),
    };
  });
}

const bytesOf = (group: number) => [group >> 8, group & 0xff];

function key(head: readonly number[], fill: number): AddressKey {
  return Uint8Array.from({ length: 16 }, (_, i) => head[i] ?? fill);
}

const rangeUnder = (head: readonly number[]): AddressRange => ({ low: key(head, 0), high: key(head, 0xff) });

const byLow = (a: AddressRange, b: AddressRange) => compareAddresses(a.low, b.low);
