import type { Static } from 'typebox';
import type { PairingCreated, PairingState } from '#contract/panels/panel.ts';
import { createCall, createRequest } from './call.ts';

/** The calls of a screen without a token. Both throw an ApiError if the call fails. */
export interface PairingCalls {
  /** Returns a code to show, and a secret to poll with. */
  open(): Promise<Static<typeof PairingCreated>>;
  /** Whether the screen is approved; only the first answer after the approval holds the token. */
  collect(secret: string): Promise<Static<typeof PairingState>>;
}

/** @param url where the server is, as in http://127.0.0.1:8080. */
export function createPairingCalls(url: string, timeoutMs?: number): PairingCalls {
  const request = createRequest(createCall({ url }), timeoutMs);
  return {
    open: () => request('POST', '/api/pairings'),
    collect: (secret) => request('GET', `/api/pairings/${encodeURIComponent(secret)}`),
  };
}
