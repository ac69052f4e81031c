import bellIcon from 'virtual:icon/bell-ringing';
import { type ReactNode, useEffect } from 'react';
import styles from './entry-frame.module.css';
import { Icon } from './icon.tsx';

/** The frame of pages outside of any tenant: one card in the middle, nothing else to look at. */
export function EntryFrame({
  title,
  about,
  children,
}: {
  title: string;
  about?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Belfry`;
  }, [title]);
  return (
    <main className={styles.frame}>
      <div className={styles.brand}>
        <Icon paths={bellIcon} size={22} />
        Belfry
      </div>
      <section className={styles.card}>
        <h1>{title}</h1>
        {about !== undefined && <p className={styles.about}>{about}</p>}
        {children}
      </section>
    </main>
  );
}
