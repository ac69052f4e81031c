/** What stands over the page: the keyboard belongs to what came last, and goes back to where it was when that is gone. */

import { Drawer, type DrawerProps, Modal, type ModalProps } from '@mantine/core';
import { type ReactNode, useLayoutEffect, useState, useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import styles from './layers.module.css';

let layers: readonly symbol[] = [];
const listeners = new Set<() => void>();
/** What the layer that is just going was to give the focus back to: the one that takes its place owes it now. */
let owed: Element | null = null;

/** For as long as it is drawn, a layer above all before it. True while nothing stands above it: Esc is for it. */
function useLayer(): boolean {
  const [own] = useState(() => Symbol('layer'));
  useLayoutEffect(() => {
    const before = isFocusLost() ? owed : document.activeElement;
    change([...layers, own]);
    return () => {
      change(layers.filter((each) => each !== own));
      owed ??= before;
      // What closes it may move the focus itself, at once.
      setTimeout(() => {
        owed = null;
        giveBack(before);
      });
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

const isFocusLost = (): boolean =>
  document.activeElement === null || document.activeElement === document.body;

/** To what had the focus; where that is gone, to what is uppermost now. */
function giveBack(before: Element | null): void {
  if (!isFocusLost()) return;
  if (before instanceof HTMLElement && before !== document.body) before.focus({ preventScroll: true });
  if (document.activeElement === document.body && layers.length > 0)
    [...document.querySelectorAll<HTMLElement>('[aria-modal="true"]')].at(-1)?.focus();
}

/** A window in the middle, over everything, for as long as it is drawn. */
export function Dialog({ closeOnEscape = true, ...props }: Omit<ModalProps, 'opened'>) {
  const { t } = useTranslation();
  const isUppermost = useLayer();
  return (
    <Modal
      opened
      closeOnEscape={closeOnEscape && isUppermost}
      closeButtonProps={{ 'aria-label': t('close') }}
      {...props}
    />
  );
}

/** What comes in from the side over the page, for as long as it is drawn. Esc closes it when nothing stands above it. */
export function SideDrawer({
  classNames,
  ...props
}: Omit<DrawerProps, 'opened' | 'closeOnEscape' | 'classNames'> & {
  readonly classNames?: Readonly<Record<string, string>>;
}) {
  const { t } = useTranslation();
  const isUppermost = useLayer();
  return (
    <Drawer
      opened
      closeOnEscape={isUppermost}
      position="right"
      size={520}
      overlayProps={{ backgroundOpacity: 0.25 }}
      classNames={{ body: styles.body ?? '', ...classNames }}
      closeButtonProps={{ 'aria-label': t('close') }}
      {...props}
    />
  );
}

/** What can be done with what is in the drawer; stays in sight while the rest scrolls. */
export function DrawerFoot({ children }: { children: ReactNode }) {
  return <div className={styles.foot}>{children}</div>;
}
