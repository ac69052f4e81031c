/** Whether the server answers: what every page says when it does not. */
import { useSyncExternalStore } from 'react';

/** When the server last answered before it fell silent; undefined while it answers. */
let silentSince: number | undefined;
let lastAnswerAt = Date.now();
const listeners = new Set<() => void>();

function set(value: number | undefined): void {
  if (silentSince === value) return;
  silentSince = value;
  for (const listener of listeners) listener();
}

export function noteAnswer(): void {
  lastAnswerAt = Date.now();
  set(undefined);
}

export function noteSilence(): void {
  set(silentSince ?? lastAnswerAt);
}

export const useSilentSince = (): number | undefined =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => silentSince,
  );
