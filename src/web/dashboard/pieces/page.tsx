import type { ReactNode } from 'react';
import { useEffect } from 'react';
import styles from './page.module.css';

/** A page's frame: its name, what can be done on it, and its content below, which scrolls. */
export function Page({
  title,
  about,
  actions,
  children,
  wide = false,
}: {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  /** The content takes the whole width: tables and lists. */
  wide?: boolean;
}) {
  useEffect(() => {
    document.title = `${title} · Belfry`;
  }, [title]);
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <div>
          <h1 className={styles.title}>{title}</h1>
          {about !== undefined && <p className={styles.about}>{about}</p>}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </header>
      <div className={wide ? styles.wide : styles.content}>{children}</div>
    </div>
  );
}

/** A part of a page with a name of its own. */
export function Section({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className={styles.section}>
      <div className={styles.sectionHead}>
        <h2>{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  );
}
