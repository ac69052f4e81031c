import { Drawer } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import styles from './sheet.module.css';

/** What comes in from the side over the page: a rule, or a question about the rules. */
export function Sheet({
  title,
  isWide,
  head,
  foot,
  onClose,
  staysOpen = false,
  children,
}: {
  title: string;
  isWide: boolean;
  /** Stays in sight above what scrolls. */
  head?: ReactNode;
  foot?: ReactNode;
  onClose: () => void;
  /** Something else is asked first. */
  staysOpen?: boolean;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size={isWide ? 1120 : 520}
      title={title}
      closeOnEscape={!staysOpen}
      trapFocus={!staysOpen}
      closeButtonProps={{ 'aria-label': t('close') }}
      classNames={{
        content: styles.content ?? '',
        header: styles.header ?? '',
        body: styles.body ?? '',
      }}
    >
      {head !== undefined && <div className={styles.head}>{head}</div>}
      <div className={styles.scroll}>{children}</div>
      {foot !== undefined && <div className={styles.foot}>{foot}</div>}
    </Drawer>
  );
}
