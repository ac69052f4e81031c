/** Tracks data that is still displayed although its refresh failed. Every page shows the age of the oldest. */
import { createStore, useStore } from '../store.ts';

export interface StaleData {
  /** When it was read; Unix milliseconds of this machine's clock. */
  readonly readAt: number;
  /** Reads it again. */
  retry(): void;
}

/** By the owner of the data, such as a query. */
const staleBySource = new Map<object, StaleData>();
const oldest = createStore<number | undefined>(undefined);

/** @param data undefined when the data of `source` is up to date, or no longer on the page. */
export function noteStale(source: object, data: StaleData | undefined): void {
  if (data) staleBySource.set(source, data);
  else staleBySource.delete(source);
  const times = [...staleBySource.values()].map(({ readAt }) => readAt);
  oldest.set(times.length === 0 ? undefined : Math.min(...times));
}

export function retryStale(): void {
  for (const { retry } of [...staleBySource.values()]) retry();
}

/** When the oldest stale data was read; undefined while everything is up to date. */
export const useStaleSince = (): number | undefined => useStore(oldest);
