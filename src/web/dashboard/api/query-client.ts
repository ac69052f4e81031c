import { MutationCache, type Query, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError, isCode } from '#client/api-error.ts';
import { isStatus } from './call.ts';
import { noteStale } from './stale-data.ts';

const keepRunning = { cancelRefetch: false };

/** A refusal is an answer too: only silence, a rate limit and a server in trouble are worth asking again. */
const worthRetrying = (failures: number, error: Error): boolean =>
  failures < 2 &&
  (!(error instanceof ApiError) || error.status === 0 || error.status === 429 || error.status >= 500);

/**
 * Whether a page shows the query's data although it cannot be read again. One failed attempt that is tried again at once
 * is none, unless no answer came at all. What is gone (404) the page says itself.
 */
const isStale = (query: Query): boolean => {
  const { data, error, status, fetchFailureCount, fetchFailureReason } = query.state;
  const isFailing = status === 'error' || fetchFailureCount > 1 || isStatus(fetchFailureReason, 0);
  return query.isActive() && data !== undefined && isFailing && !isCode(error, 'not-found');
};

/** What the pages know of the server. Old data stays while new is fetched; a lost session is found out at once. */
export function createQueryClient(): QueryClient {
  const onError = (error: Error) => {
    if (isStatus(error, 401)) void client.invalidateQueries({ queryKey: ['session'] });
  };
  const client = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        retry: worthRetrying,
        // The browser's own word on being offline is wrong for a server on the same network.
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
