import type { Static } from 'typebox';
import type { PairingCreated, PairingState } from '../contract/panel.ts';
import { ApiError, errorOf } from './api-error.ts';
import { jsonOf } from './call.ts';

/** What a screen that has no token yet may ask. Both throw an ApiError when there is no answer, or no success. */
export interface PairingCalls {
  /** A code to show, and a secret to ask with. */
  open(signal: AbortSignal): Promise<Static<typeof PairingCreated>>;
  /** Whether the screen was let in; the token is in the first answer after that, and in no other. */
  collect(secret: string, signal: AbortSignal): Promise<Static<typeof PairingState>>;
}

/** @param url where the server is, as in http://127.0.0.1:8080. */
export function createPairingCalls(url: string): PairingCalls {
  const base = url.replace(/\/+$/, '');
  const ask = async <T>(method: string, path: string, signal: AbortSignal): Promise<T> => {
    let response: Response;
    try {
      response = await fetch(base + path, { method, signal, cache: 'no-store' });
    } catch (error) {
      throw new ApiError(0, `no answer from ${base}`, { cause: error });
    }
    if (!response.ok) throw await errorOf(response);
    return jsonOf<T>(response);
  };
  return {
    open: (signal) => ask('POST', '/api/pairings', signal),
    collect: (secret, signal) => ask('GET', `/api/pairings/${encodeURIComponent(secret)}`, signal),
  };
}
