import { LRUCache } from 'lru-cache';

/** The most recently used entries, by key. */
export type LruMap<K extends {}, V extends {}> = LRUCache<K, V>;

/**
 * Keeps the most recently used entries that weigh at most `most` together, by default 1 each. One that weighs more alone is not kept. Its memory
 * grows with its entries: with a limit by size instead of number, the library allocates nothing in advance, which would be megabytes
 * for a hundred thousand keys.
 */
export function createLruMap<K extends {}, V extends {}>(
  most: number,
  weightOf: (value: V, key: K) => number = () => 1,
): LruMap<K, V> {
  return new LRUCache<K, V>({ maxSize: most, sizeCalculation: weightOf });
}
