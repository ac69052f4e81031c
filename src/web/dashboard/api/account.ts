import { queryOptions } from '@tanstack/react-query';
import type { AccountSession, Passkey } from '../../../contract/account.ts';
import { personApi } from './call.ts';

export const sessionsQuery = queryOptions({
  queryKey: ['account', 'sessions'],
  queryFn: async ({ signal }) =>
    (await personApi.get<{ sessions: AccountSession[] }>('/api/account/sessions', undefined, signal))
      .sessions,
});

export const passkeysQuery = queryOptions({
  queryKey: ['account', 'passkeys'],
  queryFn: async ({ signal }) =>
    (await personApi.get<{ passkeys: Passkey[] }>('/api/account/passkeys', undefined, signal)).passkeys,
});
