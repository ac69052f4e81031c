import { ApiError } from '#client/api-error.ts';
import { backoffMs, pause } from '#client/backoff.ts';
import type { PairingCalls } from '#client/pairing.ts';
import type { StoredPairing } from './stored-pairing.ts';

/** What the pairing screen shows. */
export type PairingProgress =
  | { readonly state: 'requesting-code' }
  | { readonly state: 'waiting'; readonly code: string }
  | { readonly state: 'limited'; readonly seconds: number }
  /** The server does not answer; the code, if there is one, is still valid. */
  | { readonly state: 'unreachable'; readonly code: string | undefined };

const pollMs = 2_000;
const retry = { baseMs: 2_000, capMs: 30_000 };

/** Requests and shows codes until one is approved, without a time limit. Resolves with the pairing. */
export async function pair(
  calls: PairingCalls,
  onProgress: (progress: PairingProgress) => void,
): Promise<StoredPairing> {
  onProgress({ state: 'requesting-code' });
  for (let failures = 0; ; ) {
    try {
      const { code, secret } = await calls.open();
      failures = 0;
      const paired = await waitForApproval(calls, { code, secret }, onProgress);
      if (paired) return paired;
    } catch (error) {
      const seconds = error instanceof ApiError ? error.retryAfterSeconds : undefined;
      if (seconds !== undefined) onProgress({ state: 'limited', seconds });
      else onProgress({ state: 'unreachable', code: undefined });
      await pause(seconds === undefined ? backoffMs(failures++, retry) : seconds * 1_000);
    }
  }
}

/** undefined: the code has expired or was used, and a new one is needed. */
async function waitForApproval(
  calls: PairingCalls,
  { code, secret }: { readonly code: string; readonly secret: string },
  onProgress: (progress: PairingProgress) => void,
): Promise<StoredPairing | undefined> {
  onProgress({ state: 'waiting', code });
  for (let failures = 0; ; ) {
    await pause(failures === 0 ? pollMs : backoffMs(failures, retry));
    try {
      const { state, token, panel } = await calls.collect(secret);
      if (failures > 0) onProgress({ state: 'waiting', code });
      failures = 0;
      if (state === 'collected') return undefined;
      if (state === 'approved' && token !== undefined && panel)
        return { token, panelId: panel.id, panelName: panel.name };
    } catch (error) {
      if (error instanceof ApiError && (error.status === 404 || error.status === 410)) return undefined;
      failures += 1;
      if (!(error instanceof ApiError && error.status === 429)) onProgress({ state: 'unreachable', code });
    }
  }
}
