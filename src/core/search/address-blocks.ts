/** Ranges of addresses as blocks, each of all addresses that begin with the same hexadecimal digits. */
import { type AddressKey, type AddressRange, compareAddresses } from '../addresses.ts';
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
