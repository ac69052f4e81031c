/** Values that the indexes know, for completing what somebody types. */
import { addressesFrom } from '../../../core/address-prefix.ts';
import { addressText } from '../../../core/addresses.ts';
import type { WantedValues } from '../../../core/figures.ts';
import type { TenantId } from '../../../core/ports.ts';
import type { Db } from '../database.ts';
import { firstValues, spanOfPrefix } from '../index/values.ts';

/** Addresses looked at for those whose text begins as asked, at most: a few milliseconds. */
const mostVisited = 2_000;

/** The first values of a field that start with `prefix`, in order of the index. */
export function fieldValues(db: Db, tenant: TenantId, { field, prefix, limit }: WantedValues): string[] {
  if (field === 'ip' || field === 'source')
    return addresses(db, { tenant, field }, prefix.toLowerCase(), limit);
  const start = field === 'host' ? prefix.toLowerCase() : prefix;
  return firstValues<string>(db, { tenant, field }, spanOfPrefix(start), limit);
}

function addresses(
  db: Db,
  of: { readonly tenant: TenantId; readonly field: string },
  prefix: string,
  limit: number,
): string[] {
  const found: string[] = [];
  let left = mostVisited;
  for (const { low, high } of addressesFrom(prefix)) {
    for (let from: Uint8Array | undefined = low; from && left > 0; ) {
      // One more than are wanted: the next ones begin with it.
      const keys: Uint8Array[] = firstValues(db, of, { from, upTo: high }, limit + 1);
      from = keys[limit];
      left -= keys.length;
      const texts = keys.slice(0, limit).map(addressText);
      found.push(...texts.filter((text) => text.startsWith(prefix)));
      if (found.length >= limit) return found.slice(0, limit);
    }
  }
  return found;
}
