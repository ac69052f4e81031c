/** The indexed values of a field, for the completion of a search. */
import { isPatternField, searchForm } from '#contract/history/fields.ts';
import { addressText } from '#core/addresses.ts';
import type { WantedValues } from '#core/history/statistics.ts';
import type { TenantId } from '#core/ports.ts';
import { families } from '#core/search/address-blocks.ts';
import { addressesFrom } from '#core/search/address-prefix.ts';
import { addressDigits, addressHex, addressTerm, valueOfTerm, valueTerm } from '#core/search/index-terms.ts';

/** The time limit of a search for values, in milliseconds. It begins with the newest partition. */
export const valuesMs = 150;
/** The most addresses of a partition that are read to find those whose text starts with the prefix. */
const maxAddresses = 200;

/** A range of terms, of which at most `limit` are read, in order. Some of their values may be wanted. */
export interface TermRange {
  readonly from: string;
  readonly upTo: string;
  readonly limit: number;
}

/** The prefix in the form of indexed values. */
export const typedPrefix = ({ field, prefix }: WantedValues): string =>
  isPatternField(field) ? searchForm(field, prefix) : prefix.toLowerCase();

/** The ranges of terms whose values may start with the prefix; none when no value can. */
export function valueRanges(tenant: TenantId, wanted: WantedValues): TermRange[] {
  const { field, limit } = wanted;
  const prefix = typedPrefix(wanted);
  if (isPatternField(field)) {
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

/** The values of the terms that start with the prefix. */
export function wantedValues(terms: readonly string[], wanted: WantedValues): string[] {
  const prefix = typedPrefix(wanted);
  const isText = isPatternField(wanted.field);
  return terms
    .map((term) => (isText ? valueOfTerm(term) : addressOf(valueOfTerm(term))))
    .filter((value) => value.startsWith(prefix));
}

/** `hex`: 32 hexadecimal digits, or only the last 8 for IPv4. */
const addressOf = (hex: string) =>
  addressText(Uint8Array.from(Buffer.from(hex.padStart(32, '00000000000000000000ffff'), 'hex')));
