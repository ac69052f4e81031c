import type { ReactNode } from 'react';
import { Icon } from './icon.tsx';
import styles from './state-mark.module.css';

/** How something stands, in icon, colour and word. */
export function StateMark({
  icon,
  tone,
  title,
  children,
}: {
  icon: readonly string[];
  tone: 'good' | 'doubtful' | 'quiet';
  title?: string;
  children: ReactNode;
}) {
  return (
    <span className={`${styles.mark} ${styles[tone]}`} title={title}>
      <Icon paths={icon} size={15} />
      {children}
    </span>
  );
}
