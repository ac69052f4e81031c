import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from '../../../client/api-error.ts';
import { noteAnswer, noteSilence } from '../shell/contact.ts';
import { isStatus } from './call.ts';

/** A refusal is an answer too: only silence, and a server in trouble, are worth asking again. */
const worthRetrying = (failures: number, error: Error): boolean =>
  failures < 2 && (!(error instanceof ApiError) || error.status === 0 || error.status >= 500);

/** What the pages know of the server. Old data stays while new is fetched; a lost session is found out at once. */
export function createQueryClient(): QueryClient {
  const onError = (error: Error) => {
    if (isStatus(error, 0)) noteSilence();
    if (isStatus(error, 401)) void client.invalidateQueries({ queryKey: ['session'] });
  };
  const client = new QueryClient({
    queryCache: new QueryCache({ onError, onSuccess: noteAnswer }),
    mutationCache: new MutationCache({ onError, onSuccess: noteAnswer }),
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
  return client;
}
