/** The values of a field that are indexed, which complete a search. */
import { addressesFrom } from '#core/address-prefix.ts';
import { addressText } from '#core/addresses.ts';
import type { TenantId } from '#core/ports.ts';
import { families } from '#core/search/address-blocks.ts';
import { addressDigits, addressHex, addressTerm, valueOfTerm, valueTerm } from '#core/search/index-terms.ts';
import type { WantedValues } from '#core/statistics.ts';

/** How long values are looked for, the newest partitions first. Milliseconds. */
export const valuesMs = 150;
/** The most addresses of a partition that are read to find those whose text starts with the prefix. */
const maxAddresses = 200;

/** Terms in their order, `limit` at the most, of which some have values that are wanted. */
export interface TermRange {
  readonly from: string;
  readonly upTo: string;
  readonly limit: number;
}

/** The prefix as values are indexed: only keys keep their upper case. */
export const typedPrefix = ({ field, prefix }: WantedValues): string =>
  field === 'key' ? prefix : prefix.toLowerCase();

/** Where the terms are whose values may start with the prefix; none when no value can. */
export function valueRanges(tenant: TenantId, wanted: WantedValues): TermRange[] {
  const { field, limit } = wanted;
  const prefix = typedPrefix(wanted);
  if (field === 'host' || field === 'key') {
    const from = valueTerm(tenant, field, prefix);
    return [{ from, upTo: `${from}\u{10ffff}`, limit }];
  }
  return addressesFrom(prefix)
    .flatMap((span) => [...families(span)])
    .map(([low, high]) => {
      const { family, digits } = addressHex(low);
      const size = addressDigits[family].at(-1) as number;
      const term = (hex: string) => addressTerm(tenant, field, { family, size, digits: hex });
      return { from: term(digits), upTo: term(addressHex(high).digits), limit: maxAddresses };
    });
}

/** Those of some terms' values that start with the prefix. */
export function wantedValues(terms: readonly string[], wanted: WantedValues): string[] {
  const prefix = typedPrefix(wanted);
  const isText = wanted.field === 'host' || wanted.field === 'key';
  return terms
    .map((term) => (isText ? valueOfTerm(term) : addressOf(valueOfTerm(term))))
    .filter((value) => value.startsWith(prefix));
}

/** Of IPv4 the last 8 of 32 hexadecimal digits are given. */
const addressOf = (hex: string) =>
  addressText(Uint8Array.from(Buffer.from(hex.padStart(32, '00000000000000000000ffff'), 'hex')));
