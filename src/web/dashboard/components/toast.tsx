/** Short messages in a corner about what was just done. The library that draws them is loaded with the first one. */
import alertIcon from 'virtual:icon/alert-triangle';
import { lazy, type ReactNode, Suspense } from 'react';
import { createStore, useStore } from '../store.ts';
import { Icon } from './icon.tsx';

const failureMs = 12_000;
const load = () => import('@mantine/notifications');
const Notifications = lazy(async () => ({ default: (await load()).Notifications }));
const shown = createStore(0);

export interface Toast {
  readonly title?: string;
  readonly message: ReactNode;
  /** Default: 4 s, for failures 12 s. */
  readonly autoClose?: number;
}

/** Where toasts are drawn. */
export function ToastCorner() {
  return <Suspense>{useStore(shown) > 0 && <Notifications position="bottom-right" />}</Suspense>;
}

/** Returns a function that hides it. */
export function showToast(
  toast: Toast & { icon?: ReactNode; color?: string; className?: string },
): () => void {
  shown.set(shown.get() + 1);
  const id = `toast-${shown.get()}`;
  void load().then(({ notifications }) => notifications.show({ ...toast, id }));
  return () => void load().then(({ notifications }) => notifications.hide(id));
}

/** Reports a failure: with an icon and a colour of its own, and for longer. */
export function showFailure(toast: Toast): void {
  const icon = <Icon paths={alertIcon} size={18} />;
  showToast({ autoClose: failureMs, ...toast, icon, color: 'var(--error)', className: 'failure' });
}
