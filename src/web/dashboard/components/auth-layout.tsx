import bellIcon from 'virtual:icon/bell-ringing';
import type { ReactNode } from 'react';
import styles from './auth-layout.module.css';
import { Icon } from './icon.tsx';
import { PageHeading } from './page.tsx';

/** The layout of pages outside of any tenant: one card in the middle. */
export function AuthLayout({
  title,
  about,
  children,
}: {
  title: string;
  about?: ReactNode;
  children: ReactNode;
}) {
  return (
    <main className={styles.frame}>
      <div className={styles.brand}>
        <Icon paths={bellIcon} size={22} />
        Belfry
      </div>
      <section className={styles.card}>
        <PageHeading title={title} />
        {about !== undefined && <p className={styles.about}>{about}</p>}
        {children}
      </section>
    </main>
  );
}
