import { NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CopyField } from '#web/dashboard/fields/copy-field.tsx';
import { SigningSecret } from './signing-secret.tsx';
import styles from './tokens.module.css';

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
