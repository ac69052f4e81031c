/**
 * What this screen keeps between two loads of the page. A browser that drives two screens opens /panel?panel=left and
 * /panel?panel=right: each name has a pairing and choices of its own.
 */
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
