import {
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';
import type { Passkey } from '#contract/account.ts';
import type { SignedIn } from '#contract/session.ts';
import { personApi } from './call.ts';

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
