import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Token } from '#contract/token.ts';
import { tokensQuery } from '#web/dashboard/api/credentials.ts';
import { panelsQuery } from '#web/dashboard/api/panels.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { CredentialTable } from './credential-table.tsx';
import { TokenDrawer } from './token-drawer.tsx';

export interface ListOptions {
  readonly opened: string | undefined;
  readonly onOpen: (id: string | undefined) => void;
  readonly onCreate: () => void;
}

export function TokenList({ opened, onOpen, onCreate }: ListOptions) {
  const { t } = useTranslation('tokens');
  const tenant = useTenant();
  const query = useQuery(tokensQuery(tenant));
  const { data: panels = [] } = useQuery(panelsQuery(tenant));
  const panelNames = new Map(panels.map(({ id, name }) => [id, name]));
  const remark = ({ panelId, name }: Token) => {
    if (panelId === null) return false;
    const panel = panelNames.get(panelId) ?? t('deletedPanel');
    // As pairing names it: the panel need not be told twice.
    return name === `panel ${panel}` ? t('screensOwn') : t('ofPanel', { name: panel });
  };
  const token = query.data?.find(({ id }) => id === opened);
  return (
    <>
      <CredentialTable
        credentials={query.data}
        error={query.error}
        onRetry={() => void query.refetch()}
        onOpen={onOpen}
        onCreate={onCreate}
        kind="tokens"
        columnTitle={t('scopes')}
        column={(each: Token) => (
          <>
            {each.scopes.map((scope) => (
              <span key={scope} className="chip mono">
                {scope}
              </span>
            ))}
          </>
        )}
        remark={remark}
      />
      {token && (
        <TokenDrawer
          key={token.id}
          token={token}
          panel={token.panelId === null ? undefined : (panelNames.get(token.panelId) ?? t('deletedPanel'))}
          onClose={() => onOpen(undefined)}
        />
      )}
    </>
  );
}
