import { queryOptions, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import type { Person, Session } from '#contract/people/account.ts';
import { personApi } from './call.ts';

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => personApi.get<Session>('/api/session', undefined, signal),
  staleTime: 30_000,
  // So that every page notices a lost server, and the end of a session or a role.
  refetchInterval: 30_000,
  refetchOnWindowFocus: 'always',
});

/** The person who is signed in. */
export function usePerson(): Person {
  const { data } = useSuspenseQuery(sessionQuery);
  if (!data.person) throw new Error('nobody is signed in');
  return data.person;
}

export function useProviders(): Session['providers'] {
  return useSuspenseQuery(sessionQuery).data.providers;
}

/** Goes to an identity provider, which returns to the path `returnTo`. */
export async function startAtProvider(id: string, returnTo: string): Promise<void> {
  const path = `/api/session/oidc/${encodeURIComponent(id)}`;
  location.assign((await personApi.post<{ url: string }>(path, { returnTo })).url);
}

/** Drops all cached data, after signing in or out. */
export function useForgetEverything(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
    await client.refetchQueries({ queryKey: ['session'] });
  };
}
