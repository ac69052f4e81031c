import {
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';
import { queryOptions } from '@tanstack/react-query';
import type { AccountSession, Passkey, ProofState, SignedIn } from '#contract/people/account.ts';
import { personApi } from './call.ts';

export const sessionsQuery = queryOptions({
  queryKey: ['account', 'sessions'],
  queryFn: async ({ signal }) =>
    (await personApi.get<{ sessions: AccountSession[] }>('/api/account/sessions', undefined, signal))
      .sessions,
});

/** Never cached: it changes within minutes. */
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

/** Has the browser sign with a passkey; resolves with what the server checks. */
export async function assertPasskey(): Promise<unknown> {
  const optionsJSON = await personApi.post<PublicKeyCredentialRequestOptionsJSON>(
    '/api/session/passkey/options',
  );
  return startAuthentication({ optionsJSON });
}

export async function signInWithPasskey(): Promise<SignedIn> {
  return personApi.post('/api/session/passkey', { response: await assertPasskey() });
}

/** Creates a passkey for the person. */
export async function addPasskey(name: string): Promise<Passkey> {
  const optionsJSON = await personApi.post<PublicKeyCredentialCreationOptionsJSON>(
    '/api/account/passkeys/options',
  );
  const response = await startRegistration({ optionsJSON });
  return personApi.post('/api/account/passkeys', { name, response });
}
