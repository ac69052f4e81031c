import type { Static } from 'typebox';
import type { PairingCreated, PairingState } from '#contract/panel.ts';
import { createCall, jsonOf, withTimeLimit } from './call.ts';

/** The calls of a screen without a token. Both throw an ApiError if the call fails. */
export interface PairingCalls {
  /** Returns a code to show, and a secret to poll with. */
  open(signal: AbortSignal): Promise<Static<typeof PairingCreated>>;
  /** Whether the screen is approved; only the first answer after the approval holds the token. */
  collect(secret: string, signal: AbortSignal): Promise<Static<typeof PairingState>>;
}

/** @param url where the server is, as in http://127.0.0.1:8080. */
export function createPairingCalls(url: string, timeoutMs = 15_000): PairingCalls {
  const call = createCall({ url });
  const ask = <T>(method: string, path: string, signal: AbortSignal) =>
    withTimeLimit(timeoutMs, signal, async (limited) =>
      jsonOf<T>(await call(method, path, { signal: limited })),
    );
  return {
    open: (signal) => ask('POST', '/api/pairings', signal),
    collect: (secret, signal) => ask('GET', `/api/pairings/${encodeURIComponent(secret)}`, signal),
  };
}
