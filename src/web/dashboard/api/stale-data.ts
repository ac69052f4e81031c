/** Data that pages show although it could not be read again. Every page says how old it is. */
import { createStore, useStore } from '../store.ts';

export interface StaleData {
  /** When it was read; Unix milliseconds of this machine's clock. */
  readonly readAt: number;
  /** Reads it again. */
  retry(): void;
}

/** By what holds the data, as a query does. */
const known = new Map<object, StaleData>();
const oldest = createStore<number | undefined>(undefined);

/** @param data undefined when the data of `source` is up to date, or no longer on the page. */
export function noteStale(source: object, data: StaleData | undefined): void {
  if (data) known.set(source, data);
  else known.delete(source);
  const times = [...known.values()].map(({ readAt }) => readAt);
  oldest.set(times.length === 0 ? undefined : Math.min(...times));
}

export function retryStale(): void {
  for (const { retry } of [...known.values()]) retry();
}

/** When the oldest of it was read; undefined while everything is up to date. */
export const useStaleSince = (): number | undefined => useStore(oldest);
