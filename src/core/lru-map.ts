import { LRUCache } from 'lru-cache';

/** The most recently used entries, by key. */
export type LruMap<K extends {}, V extends {}> = LRUCache<K, V>;

/**
 * Keeps the `most` most recently used entries. Its memory grows with what is in it: counted by size and not by number,
 * the cache makes no room beforehand, which for a hundred thousand keys is megabytes in every server that has ten.
 */
export function createLruMap<K extends {}, V extends {}>(most: number): LruMap<K, V> {
  return new LRUCache<K, V>({ maxSize: most, sizeCalculation: () => 1 });
}
