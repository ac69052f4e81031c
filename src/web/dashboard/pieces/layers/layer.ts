/** What stands over the page: the keyboard belongs to what came last, and goes back to where it was when that is gone. */
import { useLayoutEffect, useState, useSyncExternalStore } from 'react';

let layers: readonly symbol[] = [];
const listeners = new Set<() => void>();

/** For as long as it is drawn, a layer above all before it. True while nothing stands above it: Esc is for it. */
export function useLayer(): boolean {
  const [own] = useState(() => Symbol('layer'));
  useLayoutEffect(() => {
    const before = document.activeElement;
    change([...layers, own]);
    return () => {
      change(layers.filter((each) => each !== own));
      // What closes it may move the focus itself, at once.
      setTimeout(() => giveBack(before));
    };
  }, [own]);
  return useSyncExternalStore(listen, () => layers.at(-1) === own);
}

function change(now: readonly symbol[]): void {
  layers = now;
  for (const listener of listeners) listener();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** To what had the focus; where that is gone, to what is uppermost now. */
function giveBack(before: Element | null): void {
  if (document.activeElement !== null && document.activeElement !== document.body) return;
  if (before instanceof HTMLElement && before !== document.body) before.focus({ preventScroll: true });
  if (document.activeElement === document.body && layers.length > 0)
    [...document.querySelectorAll<HTMLElement>('[aria-modal="true"]')].at(-1)?.focus();
}
