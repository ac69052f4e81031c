/**
 * What this screen keeps between two loads of the page. A browser that drives two screens opens /panel?panel=left and
 * /panel?panel=right: each name has a pairing and choices of its own.
 */
import { ApiError } from '#client/call.ts';
import type { PairingCalls } from '#client/client.ts';
import { pause } from '#client/timing.ts';
import { backoffMs } from '#contract/backoff.ts';
import type { OwnChoices } from './state/look.ts';

export interface StoredPairing {
  readonly token: string;
  readonly panelId: string;
  readonly panelName: string;
}

export interface ScreenStore {
  pairing(): StoredPairing | undefined;
  setPairing(pairing: StoredPairing | undefined): void;
  choices(): OwnChoices;
  setChoices(choices: OwnChoices): void;
}

/** If the browser's storage is blocked or full, everything is kept until the page is reloaded. */
export function createScreenStore(slot: string): ScreenStore {
  const memory = new Map<string, unknown>();
  const keyOf = (what: string) => `belfry.${what}${slot === '' ? '' : `:${slot}`}`;
  const read = (what: string): unknown => {
    if (memory.has(what)) return memory.get(what);
    try {
      return JSON.parse(localStorage.getItem(keyOf(what)) ?? 'null');
    } catch {
      return null;
    }
  };
  const write = (what: string, value: unknown) => {
    memory.set(what, value);
    try {
      if (value === undefined) localStorage.removeItem(keyOf(what));
      else localStorage.setItem(keyOf(what), JSON.stringify(value));
    } catch {
      // It stays in memory.
    }
  };
  return {
    pairing() {
      const found = read('panel');
      return isPairing(found) ? found : undefined;
    },
    setPairing: (pairing) => write('panel', pairing),
    choices() {
      const found = read('screen');
      return typeof found === 'object' && found !== null ? found : {};
    },
    setChoices: (choices) => write('screen', choices),
  };
}

function isPairing(value: unknown): value is StoredPairing {
  if (typeof value !== 'object' || value === null) return false;
  const { token, panelId, panelName } = value as Record<string, unknown>;
  return typeof token === 'string' && typeof panelId === 'string' && typeof panelName === 'string';
}

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
