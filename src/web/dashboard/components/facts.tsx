import { Fragment, type ReactNode } from 'react';
import styles from './facts.module.css';
import { Icon } from './icon.tsx';

/** A list of names and values. */
export function Facts({ of }: { of: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className={styles.facts}>
      {of.map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

/** A state, as icon, colour and word. */
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
