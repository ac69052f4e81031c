import openIcon from 'virtual:icon/external-link';
import { Button, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Panel } from '#contract/panel.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/pieces/icon.tsx';
import { ErrorNotice } from '#web/dashboard/pieces/notice.tsx';
import styles from './welcome.module.css';

/** Lets a screen in by the code it shows. */
export function PanelStep({ onReady }: { onReady: () => void }) {
  const { t } = useTranslation('welcome');
  const { api, key } = useTenant();
  const [code, setCode] = useState('');
  const [name, setName] = useState('');
  const { data: panels, refetch } = useQuery({
    queryKey: [...key, 'panels'],
    queryFn: async ({ signal }) =>
      (await api.get<{ panels: Panel[] }>('/api/panels', undefined, signal)).panels,
  });
  const count = panels?.length ?? 0;
  useEffect(() => {
    if (count > 0) onReady();
  }, [count, onReady]);
  const approve = useMutation({
    mutationFn: () =>
      api.post<Panel>(`/api/pairings/${encodeURIComponent(code.trim())}/approve`, { name: name.trim() }),
    onSuccess: async () => {
      setCode('');
      await refetch();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    approve.mutate();
  };
  return (
    <form className={styles.stack} onSubmit={submit}>
      <p className={styles.hint}>{t('panelHint', { address: `${location.origin}/panel` })}</p>
      {count > 0 && !approve.data && <p className={styles.hint}>{t('panelHave', { count })}</p>}
      {approve.error && <ErrorNotice error={approve.error} title={t('panelFailed')} />}
      {approve.data && (
        <p role="status">
          <bdi>{t('panelIn', { name: approve.data.name })}</bdi>
        </p>
      )}
      <div className={styles.row}>
        <Button
          component="a"
          href="/panel"
          target="_blank"
          rel="noopener"
          leftSection={<Icon paths={openIcon} />}
        >
          {t('panelOpen')}
        </Button>
        <TextInput
          className={styles.code ?? ''}
          label={t('panelCode')}
          required
          maxLength={10}
          autoComplete="off"
          value={code}
          onChange={({ currentTarget }) => setCode(currentTarget.value)}
        />
        <TextInput
          label={t('panelName')}
          placeholder={t('panelNameExample')}
          required
          maxLength={100}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Button type="submit" loading={approve.isPending}>
          {t('panelApprove')}
        </Button>
      </div>
    </form>
  );
}
