import { queryOptions, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import type { Person, Session } from '#contract/session.ts';
import { personApi } from './call.ts';

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => personApi.get<Session>('/api/session', undefined, signal),
  staleTime: 30_000,
  // Finds out on every page that the server is away, or that the person's role or session has ended.
  refetchInterval: 30_000,
  refetchOnWindowFocus: 'always',
});

/** Who is signed in; the pages behind the sign-in are not drawn without anyone. */
export function usePerson(): Person {
  const { data } = useSuspenseQuery(sessionQuery);
  if (!data.person) throw new Error('nobody is signed in');
  return data.person;
}

/** The identity providers that one can sign in with. */
export function useProviders(): Session['providers'] {
  return useSuspenseQuery(sessionQuery).data.providers;
}

/** Leaves for a provider, to come back signed in at `returnTo`, a path of ours. */
export async function beginAtProvider(id: string, returnTo: string): Promise<void> {
  const path = `/api/session/oidc/${encodeURIComponent(id)}`;
  location.assign((await personApi.post<{ url: string }>(path, { returnTo })).url);
}

/** After signing in or out, nothing that was known holds any more. */
export function useForgetAll(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
    await client.refetchQueries({ queryKey: ['session'] });
  };
}
