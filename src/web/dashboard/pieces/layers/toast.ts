/** A word at the corner on what was just done. What draws it is loaded with the first one. */
import type { NotificationData } from '@mantine/notifications';
import { useSyncExternalStore } from 'react';

const load = () => import('@mantine/notifications');
const listeners = new Set<() => void>();
let shown = 0;

/** Shows it; answers how to take it away again. */
export function showToast(toast: Omit<NotificationData, 'id'>): () => void {
  shown++;
  const id = `toast-${shown}`;
  for (const listener of listeners) listener();
  void load().then(({ notifications }) => notifications.show({ ...toast, id }));
  return () => void load().then(({ notifications }) => notifications.hide(id));
}

/** Whether there has been one yet. */
export const useAnyToast = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => shown > 0,
  );
