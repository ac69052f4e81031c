/** Observable values that several pages share. */
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

/** A setting in localStorage, shared by all windows of this browser. Without storage it lasts until the page is closed. */
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

/** Uses localStorage; undefined if the browser forbids it. */
function storage<T>(use: (local: Storage) => T): T | undefined {
  try {
    return use(localStorage);
  } catch {
    return undefined;
  }
}

export const useStore = <T>(store: Store<T>): T => useSyncExternalStore(store.subscribe, store.get);
