import type { ReactNode } from 'react';
import { SideDrawer } from '#web/dashboard/pieces/layers/side-drawer.tsx';
import styles from './sheet.module.css';

/** What comes in from the side over the page: a rule, or a question about the rules. */
export function Sheet({
  title,
  isWide,
  head,
  foot,
  onClose,
  children,
}: {
  title: string;
  isWide: boolean;
  /** Stays in sight above what scrolls. */
  head?: ReactNode;
  foot?: ReactNode;
  onClose: () => void;
  children: ReactNode;
}) {
  return (
    <SideDrawer
      onClose={onClose}
      size={isWide ? 1120 : 520}
      title={title}
      classNames={{
        content: styles.content ?? '',
        header: styles.header ?? '',
        body: styles.body ?? '',
      }}
    >
      {head !== undefined && <div className={styles.head}>{head}</div>}
      <div className={styles.scroll}>{children}</div>
      {foot !== undefined && <div className={styles.foot}>{foot}</div>}
    </SideDrawer>
  );
}
