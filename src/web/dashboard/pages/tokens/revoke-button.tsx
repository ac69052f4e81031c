import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Key } from '#contract/token.ts';
import { keysKey, tokensKey } from '#web/dashboard/api/credentials.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Confirm, Consequences } from '#web/dashboard/pieces/layers/confirm.tsx';
import { Ago } from '#web/dashboard/pieces/time/ago.tsx';

/** Says what stops before it does. */
export function RevokeButton({
  credential,
  path,
  kind,
  panel,
  onRevoked,
}: {
  credential: Omit<Key, 'role'>;
  path: '/api/tokens' | '/api/keys';
  kind: 'token' | 'key';
  /** The panel that a token is bound to. */
  panel: string | undefined;
  onRevoked: () => void;
}) {
  const { t } = useTranslation('tokens');
  const tenant = useTenant();
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const { id, name, lastUsedAt, lastUsedFrom } = credential;
  const revoke = async () => {
    await tenant.api.delete(`${path}/${id}`);
    await client.invalidateQueries({ queryKey: kind === 'key' ? keysKey(tenant) : tokensKey(tenant) });
    onRevoked();
  };
  return (
    <>
      <Button variant="subtle" color="error" onClick={() => setAsking(true)}>
        {t('revoke')}
      </Button>
      {asking && (
        <Confirm
          title={t('revokeTitle', { name })}
          action={t('revokeDo')}
          onConfirm={revoke}
          onClose={() => setAsking(false)}
        >
          <Consequences>
            <li>{t(kind === 'key' ? 'revokeKey' : 'revokeToken')}</li>
            {panel !== undefined && <li>{t('revokePanel', { name: panel })}</li>}
            <li>
              {lastUsedAt === null ? (
                t('unused')
              ) : (
                <>
                  {t('revokeUsed')} <Ago at={lastUsedAt} />
                  {lastUsedFrom !== null && (
                    <>
                      {' '}
                      {t('revokeFrom')} <span className="mono">{lastUsedFrom}</span>
                    </>
                  )}
                </>
              )}
            </li>
            <li>{t('revokeForever')}</li>
          </Consequences>
        </Confirm>
      )}
    </>
  );
}
