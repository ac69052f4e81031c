import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Key } from '#contract/token.ts';
import { keysQuery } from '#web/dashboard/api/credentials.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { CredentialTable } from './credential-table.tsx';
import { KeyDrawer } from './key-drawer.tsx';
import type { ListOptions } from './token-list.tsx';
import styles from './tokens.module.css';

export function KeyList({ opened, onOpen, onCreate }: ListOptions) {
  const { t } = useTranslation('tokens');
  const query = useQuery(keysQuery(useTenant()));
  const key = query.data?.find(({ id }) => id === opened);
  return (
    <>
      <p className={styles.about}>{t('keysAbout')}</p>
      <CredentialTable
        credentials={query.data}
        error={query.error}
        onRetry={() => void query.refetch()}
        onOpen={onOpen}
        onCreate={onCreate}
        kind="keys"
        columnTitle={t('role')}
        column={(each: Key) => t(`role.${each.role}`, { ns: 'shell' })}
        remark={() => false}
      />
      {key && <KeyDrawer key={key.id} credential={key} onClose={() => onOpen(undefined)} />}
    </>
  );
}
