/** Values that pages are drawn with, and that outlive any one of them. */
import { useSyncExternalStore } from 'react';

export interface Store<T> {
  get(): T;
  set(value: T): void;
  subscribe(listener: () => void): () => void;
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** A choice for all windows of this browser; without storage it holds until the page is closed. */
export function createStoredChoice<T extends string>(
  key: string,
  read: (stored: string | undefined) => T,
): Store<T> {
  const store = createStore(read(storage((local) => local.getItem(key)) ?? undefined));
  addEventListener('storage', (event) => {
    if (event.key === key) store.set(read(event.newValue ?? undefined));
  });
  return {
    ...store,
    set(value) {
      store.set(value);
      storage((local) => local.setItem(key, value));
    },
  };
}

/** Browsers may refuse any use of storage. */
function storage<T>(use: (local: Storage) => T): T | undefined {
  try {
    return use(localStorage);
  } catch {
    return undefined;
  }
}

export const useStore = <T>(store: Store<T>): T => useSyncExternalStore(store.subscribe, store.get);
