import { Drawer, type DrawerProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useLayer } from './layer.ts';
import styles from './side-drawer.module.css';

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
