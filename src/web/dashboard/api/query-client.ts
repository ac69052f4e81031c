import { MutationCache, type Query, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError, isCode, isTemporary } from '#client/api-error.ts';
import { isStatus } from './call.ts';
import { noteStale } from './stale-data.ts';

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
