import bellIcon from 'virtual:icon/bell-ringing';
import { type ReactNode, useState } from 'react';
import { Icon } from '../../components/icon.tsx';
import { PageHeading } from '../../components/page.tsx';
import styles from './sign-in.module.css';

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

/** The secret of an invitation or setup link. It is in the URL fragment (after #), so it is in no request and no log. */

const storageKey = 'belfry.link-secret';

/** The secret of this page's link, or the one kept during a sign-in. */
export function useLinkSecret(): string | undefined {
  const [secret] = useState(() => location.hash.slice(1) || takeKeptSecret());
  return secret === '' ? undefined : secret;
}

/** Keeps the secret in this tab while the person signs in; it is deleted when it is read. */
export function keepLinkSecret(secret: string): void {
  sessionStorage.setItem(storageKey, secret);
}

function takeKeptSecret(): string {
  const kept = sessionStorage.getItem(storageKey) ?? '';
  sessionStorage.removeItem(storageKey);
  return kept;
}
