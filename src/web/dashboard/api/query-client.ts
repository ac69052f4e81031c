/** Tracks data that is still displayed although its refresh failed. Every page shows the age of the oldest. */
import { MutationCache, type Query, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError, isCode, isTemporary } from '#client/call.ts';
import { createStore, useStore } from '../store.ts';
import { isStatus } from './call.ts';

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

const keepRunning = { cancelRefetch: false };

const shouldRetry = (failures: number, error: Error): boolean =>
  failures < 2 && (!(error instanceof ApiError) || isTemporary(error));

/**
 * Whether a page shows the query's data although it cannot be read again. One failed attempt that is retried at once
 * does not count, unless no answer came at all. A 404 is shown by the page itself.
 */
const isStale = (query: Query): boolean => {
  const { data, error, status, fetchFailureCount, fetchFailureReason } = query.state;
  const isFailing = status === 'error' || fetchFailureCount > 1 || isStatus(fetchFailureReason, 0);
  return query.isActive() && data !== undefined && isFailing && !isCode(error, 'not-found');
};

/** The cache of server data. Old data stays while new is read; after a 401, and when the tenant is suspended, the session is read again. */
export function createQueryClient(): QueryClient {
  const onError = (error: Error) => {
    if (isStatus(error, 401) || isCode(error, 'tenant.suspended'))
      void client.invalidateQueries({ queryKey: ['session'] });
  };
  const client = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        retry: shouldRetry,
        // A browser that says it is offline may still reach a server on its network.
        networkMode: 'always',
        placeholderData: (previous: unknown) => previous,
      },
      mutations: { networkMode: 'always' },
    },
  });
  client.getQueryCache().subscribe(({ query }) => {
    const retry = () => void client.refetchQueries({ queryKey: query.queryKey, exact: true }, keepRunning);
    noteStale(query, isStale(query) ? { readAt: query.state.dataUpdatedAt, retry } : undefined);
  });
  return client;
}
