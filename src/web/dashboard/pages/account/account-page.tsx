import backIcon from 'virtual:icon/arrow-left';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { sessionQuery } from '#web/dashboard/api/session.ts';
import { Icon } from '#web/dashboard/pieces/icon.tsx';
import { Page, Section } from '#web/dashboard/pieces/page.tsx';
import { lastTenant } from '#web/dashboard/shell/last-tenant.ts';
import styles from './account.module.css';
import { PasskeySection } from './passkey-section.tsx';
import { PasswordSection } from './password-section.tsx';
import { ProfileSection } from './profile-section.tsx';
import { SessionSection } from './session-section.tsx';
import { TwoFactorSection } from './two-factor-section.tsx';

/** What belongs to the person and to no tenant. */
export function AccountPage() {
  const { t } = useTranslation('account');
  const { data: session } = useSuspenseQuery(sessionQuery);
  const home = session.tenants.find(({ name }) => name === lastTenant(session.tenants));
  return (
    <main className={styles.frame}>
      {home && (
        <Link to="/t/$tenant/overview" params={{ tenant: home.name }} className={styles.back}>
          <Icon paths={backIcon} /> {t('back', { tenant: home.title })}
        </Link>
      )}
      <Page title={t('title')}>
        <ProfileSection />
        <PasswordSection />
        <TwoFactorSection />
        <PasskeySection />
        <SessionSection />
        <TenantSection />
      </Page>
    </main>
  );
}

function TenantSection() {
  const { t } = useTranslation('account');
  const { t: shell } = useTranslation('shell');
  const { data: session } = useSuspenseQuery(sessionQuery);
  return (
    <Section title={t('tenants')}>
      {session.tenants.length === 0 && <p className="muted">{t('noTenants')}</p>}
      <ul className={styles.list}>
        {session.tenants.map(({ name, title, role }) => (
          <li key={name} className={styles.item}>
            <Link to="/t/$tenant/overview" params={{ tenant: name }}>
              {title}
            </Link>
            <span className="muted">{shell(`role.${role}`)}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
