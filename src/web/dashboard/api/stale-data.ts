/** What the page shows although it could not be read again. Every page says how old that is. */
import { useSyncExternalStore } from 'react';

export interface StaleData {
  /** When it was read; Unix milliseconds of this machine's clock. */
  readonly readAt: number;
  /** Reads it again. */
  retry(): void;
}

/** By what holds the data, as a query does. */
const known = new Map<object, StaleData>();
const listeners = new Set<() => void>();
let oldest: number | undefined;

/** @param data undefined: what `source` holds is up to date, or is no longer on the page. */
export function noteStale(source: object, data: StaleData | undefined): void {
  if (data) known.set(source, data);
  else if (!known.delete(source)) return;
  const before = oldest;
  oldest = known.size === 0 ? undefined : Math.min(...[...known.values()].map(({ readAt }) => readAt));
  if (oldest !== before) for (const listener of listeners) listener();
}

export function retryStale(): void {
  for (const { retry } of [...known.values()]) retry();
}

/** When the oldest of it was read; undefined while all that is shown is up to date. */
export const useStaleSince = (): number | undefined =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => oldest,
  );
