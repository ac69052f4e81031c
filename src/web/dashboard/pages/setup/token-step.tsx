import { Button, SegmentedControl } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { curlWithHeaders, curlWithJson } from '#web/dashboard/api/curl.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { CopyField } from '#web/dashboard/pieces/fields/copy-field.tsx';
import { ErrorNotice } from '#web/dashboard/pieces/notice.tsx';
import styles from './welcome.module.css';

/** Makes a token, and shows how it is used. */
export function TokenStep({
  token,
  onToken,
}: {
  token: string | undefined;
  onToken: (token: string) => void;
}) {
  const { t } = useTranslation('welcome');
  const { api, key } = useTenant();
  const client = useQueryClient();
  const [form, setForm] = useState<'json' | 'headers'>('json');
  const create = useMutation({
    mutationFn: () => api.post<{ token: string }>('/api/tokens', { name: t('tokenName') }),
    onSuccess: async (created) => {
      onToken(created.token);
      await client.invalidateQueries({ queryKey: [...key, 'tokens'] });
    },
  });
  if (token === undefined) {
    return (
      <div className={styles.stack}>
        <p className={styles.hint}>{t('tokenHint')}</p>
        {create.error && <ErrorNotice error={create.error} title={t('tokenFailed')} />}
        <div>
          <Button variant="filled" loading={create.isPending} onClick={() => create.mutate()}>
            {t('tokenCreate')}
          </Button>
        </div>
      </div>
    );
  }
  const example = { title: t('curlTitle'), message: t('curlMessage') };
  const command = form === 'json' ? curlWithJson : curlWithHeaders;
  return (
    <div className={styles.stack}>
      <p className={styles.hint}>{t('tokenOnce')}</p>
      <CopyField text={token} label={t('tokenLabel')} />
      <div>
        <SegmentedControl
          size="xs"
          value={form}
          onChange={(value) => setForm(value === 'headers' ? 'headers' : 'json')}
          data={[
            { value: 'json', label: t('asJson') },
            { value: 'headers', label: t('asHeaders') },
          ]}
        />
      </div>
      <CopyField text={command(location.origin, token, example)} label="curl" />
    </div>
  );
}
