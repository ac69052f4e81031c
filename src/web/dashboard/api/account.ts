import { queryOptions } from '@tanstack/react-query';
import type { AccountSession, Passkey, ProofState } from '#contract/account.ts';
import { personApi } from './call.ts';

export const sessionsQuery = queryOptions({
  queryKey: ['account', 'sessions'],
  queryFn: async ({ signal }) =>
    (await personApi.get<{ sessions: AccountSession[] }>('/api/account/sessions', undefined, signal))
      .sessions,
});

/** Asked anew each time: it is true for minutes. */
export const proofQuery = queryOptions({
  queryKey: ['account', 'proof'],
  queryFn: ({ signal }) => personApi.get<ProofState>('/api/account/proof', undefined, signal),
  staleTime: 0,
});

export const passkeysQuery = queryOptions({
  queryKey: ['account', 'passkeys'],
  queryFn: async ({ signal }) =>
    (await personApi.get<{ passkeys: Passkey[] }>('/api/account/passkeys', undefined, signal)).passkeys,
});
