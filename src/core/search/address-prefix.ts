/** Ranges of addresses that begin with a typed prefix, for completion. */
import { type AddressKey, type AddressRange, compareAddresses, containsRange } from '../addresses.ts';

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
