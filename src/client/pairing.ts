import type { Static } from 'typebox';
import type { PairingCreated, PairingState } from '#contract/panel.ts';
import { createCall, jsonOf, withTimeLimit } from './call.ts';

/** What a screen that has no token yet may ask. Both throw an ApiError when there is no answer, or no success. */
export interface PairingCalls {
  /** A code to show, and a secret to ask with. */
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
