import fingerprintIcon from 'virtual:icon/fingerprint';
import { Button, Checkbox, Group, Stack, TextInput } from '@mantine/core';
import { useMutation, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Session, SignedIn, SignIn, TwoFactorSignIn } from '#contract/people/account.ts';
import { signInWithPasskey } from '#web/dashboard/api/account.ts';
import { personApi } from '#web/dashboard/api/call.ts';
import { sessionQuery, startAtProvider, useForgetEverything } from '#web/dashboard/api/session.ts';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { PasswordField } from '#web/dashboard/fields/account-fields.tsx';
import { AuthLayout } from '#web/dashboard/pages/sign-in/auth-layout.tsx';
import styles from './sign-in.module.css';

const route = getRouteApi('/open/sign-in');

/** Password and two-factor authentication, or a passkey, or an identity provider. */
export function SignInPage() {
  const { t } = useTranslation('entry');
  const { to, error } = route.useSearch();
  const { data: session } = useSuspenseQuery(sessionQuery);
  const navigate = useNavigate();
  const forgetAll = useForgetEverything();
  const [awaitsCode, setAwaitsCode] = useState(false);
  const enter = async () => {
    await forgetAll();
    await navigate({ href: to ?? '/', replace: true });
  };
  if (awaitsCode) {
    return (
      <AuthLayout title={t('codeTitle')}>
        <CodeForm onDone={enter} onBack={() => setAwaitsCode(false)} />
      </AuthLayout>
    );
  }
  return (
    <AuthLayout title={t('signIn')}>
      {error !== undefined && <ErrorNotice error={t(providerText(error))} title={t('signInFailed')} />}
      <PasswordForm onDone={enter} onTwoFactor={() => setAwaitsCode(true)} />
      <OtherWays providers={session.providers} returnTo={to} onDone={enter} />
    </AuthLayout>
  );
}

const reasons = ['denied', 'not-linked', 'not-invited', 'not-verified', 'expired'] as const;

/** An unknown reason counts as an error of the provider. */
function providerText(error: string): `provider.${(typeof reasons)[number] | 'provider'}` {
  return `provider.${reasons.find((each) => each === error) ?? 'provider'}`;
}

function PasswordForm({ onDone, onTwoFactor }: { onDone: () => Promise<void>; onTwoFactor: () => void }) {
  const { t } = useTranslation('entry');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [remember, setRemember] = useState(false);
  const signIn = useMutation({
    mutationFn: (body: SignIn) => personApi.post<SignedIn>('/api/session', body),
    onSuccess: ({ twoFactor }) => (twoFactor ? onTwoFactor() : onDone()),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate({ email, password, remember });
  };
  return (
    <form onSubmit={submit} className={styles.form}>
      <Stack gap="md">
        {signIn.error && (
          <ErrorNotice
            error={signIn.error}
            title={t('signInFailed')}
            texts={{ unauthorized: t('passwordWrong') }}
          />
        )}
        <TextInput
          label={t('email')}
          type="email"
          name="email"
          autoComplete="username webauthn"
          required
          data-autofocus
          autoFocus
          value={email}
          onChange={({ currentTarget }) => setEmail(currentTarget.value)}
        />
        <PasswordField
          label={t('password')}
          name="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={({ currentTarget }) => setPassword(currentTarget.value)}
        />
        <Checkbox
          label={t('remember')}
          checked={remember}
          onChange={({ currentTarget }) => setRemember(currentTarget.checked)}
        />
        <Button type="submit" variant="filled" fullWidth loading={signIn.isPending}>
          {t('signIn')}
        </Button>
      </Stack>
    </form>
  );
}

/** Asks for a code of the authenticator app, or a backup code. */
function CodeForm({ onDone, onBack }: { onDone: () => Promise<void>; onBack: () => void }) {
  const { t } = useTranslation('entry');
  const [kind, setKind] = useState<TwoFactorSignIn['kind']>('totp');
  const [code, setCode] = useState('');
  const [trustDevice, setTrustDevice] = useState(false);
  const prove = useMutation({
    mutationFn: (body: TwoFactorSignIn) => personApi.post<SignedIn>('/api/session/two-factor', body),
    onSuccess: onDone,
    onError: () => setCode(''),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    prove.mutate({ code: code.trim(), kind, trustDevice });
  };
  const swap = () => {
    setKind(kind === 'totp' ? 'backup' : 'totp');
    setCode('');
    prove.reset();
  };
  const isTotp = kind === 'totp';
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        {prove.error && (
          <ErrorNotice
            error={prove.error}
            title={t('signInFailed')}
            texts={{ '/code': t('codeWrong'), unauthorized: t('signInOver') }}
          />
        )}
        <TextInput
          key={kind}
          label={isTotp ? t('code') : t('backupCode')}
          description={isTotp ? t('codeHint') : t('backupHint')}
          inputMode={isTotp ? 'numeric' : 'text'}
          autoComplete="one-time-code"
          pattern={isTotp ? '[0-9]{6}' : undefined}
          maxLength={32}
          required
          autoFocus
          value={code}
          onChange={({ currentTarget }) => setCode(currentTarget.value)}
        />
        <Checkbox
          label={t('trust')}
          checked={trustDevice}
          onChange={({ currentTarget }) => setTrustDevice(currentTarget.checked)}
        />
        <Button type="submit" variant="filled" fullWidth loading={prove.isPending}>
          {t('continue')}
        </Button>
        <Group justify="space-between">
          <Button variant="subtle" size="xs" onClick={onBack}>
            {t('back')}
          </Button>
          <Button variant="subtle" size="xs" onClick={swap}>
            {isTotp ? t('useBackup') : t('useApp')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Sign-in methods without a password. */
function OtherWays({
  providers,
  returnTo,
  onDone,
}: {
  providers: Session['providers'];
  returnTo: string | undefined;
  onDone: () => Promise<void>;
}) {
  const { t } = useTranslation('entry');
  const passkey = useMutation({ mutationFn: signInWithPasskey, onSuccess: onDone });
  const provider = useMutation({
    mutationFn: (id: string) => startAtProvider(id, returnTo ?? '/'),
  });
  // Browsers offer passkeys only on secure origins.
  const hasPasskeys = 'PublicKeyCredential' in globalThis;
  const error = passkey.error ?? provider.error;
  return (
    <>
      {(hasPasskeys || providers.length > 0) && <p className={styles.or}>{t('or')}</p>}
      <Stack gap="xs">
        {error && (
          <ErrorNotice error={error} title={passkey.error ? t('passkeyFailed') : t('signInFailed')} />
        )}
        {hasPasskeys && (
          <Button
            fullWidth
            leftSection={<Icon paths={fingerprintIcon} size={18} />}
            loading={passkey.isPending}
            onClick={() => passkey.mutate()}
          >
            {t('withPasskey')}
          </Button>
        )}
        {providers.map(({ id, name }) => (
          <Button key={id} fullWidth loading={provider.isPending} onClick={() => provider.mutate(id)}>
            {t('withProvider', { name })}
          </Button>
        ))}
      </Stack>
      <p className={styles.forgot}>{t('forgot')}</p>
    </>
  );
}
