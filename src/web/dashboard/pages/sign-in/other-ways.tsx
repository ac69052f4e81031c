import fingerprintIcon from 'virtual:icon/fingerprint';
import { Button, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Session } from '#contract/session.ts';
import { signInWithPasskey } from '#web/dashboard/api/passkeys.ts';
import { beginAtProvider } from '#web/dashboard/api/session.ts';
import { Icon } from '#web/dashboard/pieces/icon.tsx';
import { ErrorNotice } from '#web/dashboard/pieces/notice.tsx';
import styles from './sign-in.module.css';

/** The ways in without a password. */
export function OtherWays({
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
    mutationFn: (id: string) => beginAtProvider(id, returnTo ?? '/'),
  });
  // Passkeys are for secure origins; elsewhere the browser has no word of them.
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
