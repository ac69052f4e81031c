import {
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';
import { queryOptions } from '@tanstack/react-query';
import type { AccountSession, Passkey, ProofState } from '#contract/account.ts';
import type { SignedIn } from '#contract/session.ts';
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

/** Has the browser prove a passkey of its choice; answers what the server is to check. */
export async function assertPasskey(): Promise<unknown> {
  const optionsJSON = await personApi.post<PublicKeyCredentialRequestOptionsJSON>(
    '/api/session/passkey/options',
  );
  return startAuthentication({ optionsJSON });
}

export async function signInWithPasskey(): Promise<SignedIn> {
  return personApi.post('/api/session/passkey', { response: await assertPasskey() });
}

/** Has the browser make a passkey for the person who is signed in. */
export async function addPasskey(name: string): Promise<Passkey> {
  const optionsJSON = await personApi.post<PublicKeyCredentialCreationOptionsJSON>(
    '/api/account/passkeys/options',
  );
  const response = await startRegistration({ optionsJSON });
  return personApi.post('/api/account/passkeys', { name, response });
}
