import backIcon from 'virtual:icon/arrow-left';
import { Button, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { AccountPatch, AccountSession, PasswordChange, Person } from '#contract/people/account.ts';
import { browserName } from '#web/browser-name.ts';
import { sessionsQuery } from '#web/dashboard/api/account.ts';
import { personApi } from '#web/dashboard/api/call.ts';
import { sessionQuery, usePerson } from '#web/dashboard/api/session.ts';
import { lastTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { ErrorNotice, showToast } from '#web/dashboard/components/notice.tsx';
import { Page, Section } from '#web/dashboard/components/page.tsx';
import { NewPasswordField } from '#web/dashboard/fields/account-fields.tsx';
import { useBrowserFormats } from '#web/dashboard/formats/use-formats.tsx';
import styles from './account.module.css';
import { CurrentPassword, useReauthentication } from './reauthentication.tsx';
import { PasskeySection, TwoFactorSection } from './sign-in-methods.tsx';

/** The person's own settings, for all tenants. */
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
      <Page title={t('yourAccount')}>
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
            <span className="muted">{t(`role.${role}`)}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function ProfileSection() {
  const { t } = useTranslation('account');
  const person = usePerson();
  const client = useQueryClient();
  const [name, setName] = useState(person.name);
  const save = useMutation({
    mutationFn: (body: AccountPatch) => personApi.patch<Person>('/api/account', body),
    onSuccess: async () => {
      showToast({ message: t('saved') });
      await client.invalidateQueries({ queryKey: ['session'] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({ name: name.trim() });
  };
  return (
    <Section title={t('profile')}>
      <form className={styles.fields} onSubmit={submit}>
        {save.error && <ErrorNotice error={save.error} title={t('failed')} />}
        <TextInput
          label={t('name')}
          autoComplete="name"
          required
          maxLength={100}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <TextInput label={t('email')} description={t('emailHint')} readOnly value={person.email} />
        <div>
          <Button type="submit" disabled={name.trim() === person.name} loading={save.isPending}>
            {t('save')}
          </Button>
        </div>
      </form>
    </Section>
  );
}

const empty: PasswordChange = { currentPassword: '', newPassword: '' };

function PasswordSection() {
  const { t } = useTranslation('account');
  const person = usePerson();
  const client = useQueryClient();
  const [passwords, setPasswords] = useState(empty);
  const change = useMutation({
    mutationFn: (body: PasswordChange) => personApi.post('/api/account/password', body),
    onSuccess: async () => {
      setPasswords(empty);
      showToast({ message: t('passwordChanged') });
      await client.invalidateQueries({ queryKey: ['account', 'sessions'] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate(passwords);
  };
  return (
    <Section title={t('password')}>
      <p className={styles.hint}>{t('passwordHint')}</p>
      <form className={styles.fields} onSubmit={submit}>
        {change.error && (
          <ErrorNotice
            error={change.error}
            title={t('passwordFailed')}
            texts={{ '/currentPassword': t('passwordWrong') }}
          />
        )}
        {/* Tells password managers whose password this is. */}
        <input type="email" autoComplete="username" value={person.email} readOnly hidden />
        <CurrentPassword
          value={passwords.currentPassword}
          onChange={(currentPassword) => setPasswords({ ...passwords, currentPassword })}
        />
        <NewPasswordField
          label={t('newPassword')}
          value={passwords.newPassword}
          onChange={(newPassword) => setPasswords({ ...passwords, newPassword })}
        />
        <div>
          <Button type="submit" loading={change.isPending}>
            {t('changePassword')}
          </Button>
        </div>
      </form>
    </Section>
  );
}

/** The person's sessions. */
function SessionSection() {
  const { t } = useTranslation('account');
  const { data: sessions, error, refetch } = useQuery(sessionsQuery);
  const client = useQueryClient();
  const end = useMutation({
    mutationFn: (id: string | undefined) =>
      personApi.delete(`/api/account/sessions${id === undefined ? '' : `/${encodeURIComponent(id)}`}`),
    onSettled: () => client.invalidateQueries(sessionsQuery),
  });
  const { whenConfirmed, error: unconfirmed, dialog } = useReauthentication();
  return (
    <Section
      title={t('sessions')}
      actions={
        (sessions?.length ?? 0) > 1 && (
          <Button
            size="xs"
            loading={end.isPending}
            onClick={() => whenConfirmed(() => end.mutate(undefined))}
          >
            {t('endOthers')}
          </Button>
        )
      }
    >
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {unconfirmed && <ErrorNotice error={unconfirmed} />}
      {end.error && <ErrorNotice error={end.error} title={t('failed')} />}
      <ul className={styles.list}>
        {sessions?.map((session) => (
          <SessionItem
            key={session.id}
            session={session}
            onEnd={() => whenConfirmed(() => end.mutate(session.id))}
          />
        ))}
      </ul>
      {dialog}
    </Section>
  );
}

function SessionItem({ session, onEnd }: { session: AccountSession; onEnd: () => void }) {
  const { t } = useTranslation('account');
  const formats = useBrowserFormats();
  const { browser, system } = browserName(session.userAgent);
  const what =
    browser === undefined
      ? t('unknownBrowser')
      : system === undefined
        ? browser
        : t('browserOn', { browser, system });
  return (
    <li className={styles.item}>
      <span title={session.userAgent ?? undefined}>
        {what}
        {session.current && <span className={styles.current}>{t('thisSession')}</span>}
      </span>
      <span className="mono muted">{session.address}</span>
      <span className="muted">{t('lastSeen', { when: formats.relative(session.lastSeenAt) })}</span>
      {!session.current && (
        <Button size="xs" variant="subtle" aria-label={t('endSessionOf', { what })} onClick={onEnd}>
          {t('signOut')}
        </Button>
      )}
    </li>
  );
}
