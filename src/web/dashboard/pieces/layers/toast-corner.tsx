import { lazy, Suspense } from 'react';
import { useAnyToast } from './toast.ts';

const Notifications = lazy(async () => ({ default: (await import('@mantine/notifications')).Notifications }));

/** Where toasts are drawn. */
export function ToastCorner() {
  return <Suspense>{useAnyToast() && <Notifications position="bottom-right" />}</Suspense>;
}
