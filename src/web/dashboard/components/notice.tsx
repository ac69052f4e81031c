import alertIcon from 'virtual:icon/alert-triangle';
import { Button, Notification } from '@mantine/core';
import { CatchBoundary } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type ErrorTexts, sentenceOf } from '../api/call.ts';
import { useTenant } from '../api/tenant.tsx';
import { createStore, useStore } from '../store.ts';
import { Icon } from './icon.tsx';
import styles from './notice.module.css';

/** An empty state: why it is empty, and what to do. */
export function EmptyState({
  icon,
  title,
  titleAs: Title = 'p',
  children,
  action,
}: {
  icon?: readonly string[];
  title: string;
  /** The heading of a page that has no other one. */
  titleAs?: 'p' | 'h1';
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className={styles.empty}>
      {icon && <Icon paths={icon} size={28} />}
      <Title className={styles.emptyTitle}>{title}</Title>
      {children !== undefined && <div className={styles.emptyText}>{children}</div>}
      {action !== undefined && <div className={styles.emptyAction}>{action}</div>}
    </div>
  );
}

/** The server's error, with a retry button where that is possible. */
export function ErrorNotice({
  error,
  title,
  texts,
  onRetry,
}: {
  error: unknown;
  title?: string;
  texts?: ErrorTexts;
  onRetry?: () => void;
}) {
  const { t } = useTranslation();
  return (
    <div className={styles.error} role="alert">
      <Icon paths={alertIcon} size={18} />
      <div>
        <strong>{title ?? t('loadFailed')}</strong>
        <div>{sentenceOf(error, texts)}</div>
      </div>
      {onRetry && (
        <Button size="xs" onClick={onRetry}>
          {t('retry')}
        </Button>
      )}
    </div>
  );
}

export function Remark({ children }: { children: ReactNode }) {
  return <p className={styles.remark}>{children}</p>;
}

/** Says what the person's role does not allow here. */
export function RoleRemark({ what }: { what: 'mayNot' | 'mayNotSee' }) {
  const { t } = useTranslation();
  const { role } = useTenant();
  return <Remark>{t(what, { role: t(`role.${role}`) })}</Remark>;
}

/** Short messages in a corner about what was just done. */

const usualMs = 4_000;
const failureMs = 12_000;
/** With more, the oldest goes. */
const mostShown = 5;

export interface Toast {
  readonly title?: string;
  readonly message: ReactNode;
  /** Default: 4 s, for failures 12 s. */
  readonly autoClose?: number;
}

interface ShownToast extends Toast {
  readonly id: number;
  readonly isFailure: boolean;
}

const toasts = createStore<readonly ShownToast[]>([]);
let count = 0;

/** Where toasts are drawn. */
export function ToastCorner() {
  return (
    <div className={styles.corner}>
      {useStore(toasts).map((toast) => (
        // An error in drawing a message must not take the page away.
        <CatchBoundary key={toast.id} getResetKey={() => toast.id} errorComponent={() => null}>
          <DrawnToast {...toast} />
        </CatchBoundary>
      ))}
    </div>
  );
}

/** It stays while the mouse or the focus is on it. */
function DrawnToast({
  id,
  title,
  message,
  isFailure,
  autoClose = isFailure ? failureMs : usualMs,
}: ShownToast) {
  const { t } = useTranslation();
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => hide(id), autoClose);
    return () => clearTimeout(timer);
  }, [id, isHeld, autoClose]);
  return (
    <Notification
      className={styles.toast ?? ''}
      title={title}
      {...(isFailure && { icon: <Icon paths={alertIcon} size={18} />, color: 'var(--error)' })}
      closeButtonProps={{ 'aria-label': t('close') }}
      onClose={() => hide(id)}
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      {message}
    </Notification>
  );
}

const hide = (id: number): void => toasts.set(toasts.get().filter((each) => each.id !== id));

/** Returns a function that hides it. */
export function showToast(toast: Toast, isFailure = false): () => void {
  count += 1;
  const id = count;
  toasts.set([...toasts.get(), { ...toast, id, isFailure }].slice(-mostShown));
  return () => hide(id);
}

const undoMs = 12_000;

/** Reports what was done, with a button that takes it back. */
export function showDone(
  message: string,
  undo: { readonly label: string; readonly onUndo: () => void },
): void {
  const hide = showToast({
    autoClose: undoMs,
    message: (
      <span className={styles.undo}>
        <span>{message}</span>
        <Button
          size="xs"
          onClick={() => {
            hide();
            undo.onUndo();
          }}
        >
          {undo.label}
        </Button>
      </span>
    ),
  });
}

/** Reports a failure: with an icon and a colour of its own, and for longer. */
export function showFailure(toast: Toast): void {
  showToast(toast, true);
}
