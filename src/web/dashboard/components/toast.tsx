/** A message at the corner on what was just done. What draws it is loaded with the first one. */
import alertIcon from 'virtual:icon/alert-triangle';
import { createElement, lazy, type ReactNode, Suspense, useSyncExternalStore } from 'react';
import { Icon } from './icon.tsx';

const failureMs = 12_000;
const load = () => import('@mantine/notifications');
const listeners = new Set<() => void>();
let shown = 0;

interface Toast {
  readonly title?: string;
  readonly message: ReactNode;
  /** Default: 4 s, for failures 12 s. */
  readonly autoClose?: number;
}

/** Says that something was done. Answers how to take it away again. */
export function showToast(toast: Toast): () => void {
  return show(toast);
}

/** Says that something was not done: with an icon and a colour of its own, and for longer. */
export function showFailure(toast: Toast): () => void {
  const icon = createElement(Icon, { paths: alertIcon, size: 18 });
  return show({ autoClose: failureMs, ...toast, icon, color: 'var(--error)', className: 'failure' });
}

function show(toast: Toast & { icon?: ReactNode; color?: string; className?: string }): () => void {
  shown++;
  const id = `toast-${shown}`;
  for (const listener of listeners) listener();
  void load().then(({ notifications }) => notifications.show({ ...toast, id }));
  return () => void load().then(({ notifications }) => notifications.hide(id));
}

/** Whether there has been one yet. */
const useAnyToast = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => shown > 0,
  );

const Notifications = lazy(async () => ({ default: (await import('@mantine/notifications')).Notifications }));

/** Where toasts are drawn. */
export function ToastCorner() {
  return <Suspense>{useAnyToast() && <Notifications position="bottom-right" />}</Suspense>;
}
