import { Button, NativeSelect } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { CopyField } from '#web/dashboard/fields/copy-field.tsx';
import styles from './tokens.module.css';

/** The secret that a sender signs with for a token; loaded on request. */
export function SigningSecret({ tokenId }: { tokenId: string }) {
  const { t } = useTranslation('tokens');
  const { api } = useTenant();
  const read = useMutation({
    mutationFn: () => api.get<{ signingSecret: string }>(`/api/tokens/${tokenId}/signing-secret`),
  });
  if (read.data) return <CopyField text={read.data.signingSecret} label={t('signingSecret')} />;
  return (
    <div>
      <Button loading={read.isPending} onClick={() => read.mutate()}>
        {t('showSigningSecret')}
      </Button>
      {read.error && <ErrorNotice error={read.error} />}
    </div>
  );
}

/** Senders that sign; of those with Standard Webhooks, any format is possible, and CloudEvents reads the most. */
const signers = [
  ['github', 'GitHub'],
  ['gitlab', 'GitLab'],
  ['cloudevents', 'Standard Webhooks'],
] as const;

/** For senders that sign instead of sending the token: the address with the token's id, and the secret. */
export function SignedWebhooks({ tokenId }: { tokenId: string }) {
  const { t } = useTranslation('tokens');
  const [name, setName] = useState<string>(signers[0][0]);
  return (
    <details className={styles.more}>
      <summary>{t('signed')}</summary>
      <div className={styles.signed}>
        <p className="muted">{t('signedHint')}</p>
        <NativeSelect
          label={t('signedSender')}
          value={name}
          data={signers.map(([value, label]) => ({ value, label }))}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <CopyField label="URL" text={`${location.origin}/api/integrations/${name}/${tokenId}`} />
        <SigningSecret tokenId={tokenId} />
      </div>
    </details>
  );
}
