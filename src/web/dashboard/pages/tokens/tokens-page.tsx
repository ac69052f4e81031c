import plusIcon from 'virtual:icon/plus';
import { Button, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Key, Token } from '#contract/token.ts';
import { keysQuery, panelsQuery, tokensQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { Remark } from '#web/dashboard/components/notice.tsx';
import { Page } from '#web/dashboard/components/page.tsx';
import { useShortcuts } from '#web/dashboard/shell/shortcuts.ts';
import { CreateKey, CreateToken } from './create-credential.tsx';
import { KeyDrawer, TokenDrawer } from './credential-drawer.tsx';
import { CredentialTable } from './credential-table.tsx';
import styles from './tokens.module.css';

const route = '/signed-in/t/$tenant/settings/tokens';

/** What senders, screens and scripts come with. For admins alone. */
export function TokensPage() {
  const { t } = useTranslation('tokens');
  const { may, role } = useTenant();
  if (!may('admin')) {
    return (
      <Page title={t('title')}>
        <Remark>{t('mayNotSee', { ns: 'shell', role: t(`role.${role}`, { ns: 'shell' }) })}</Remark>
      </Page>
    );
  }
  return <Credentials />;
}

function Credentials() {
  const { t } = useTranslation('tokens');
  const { tab = 'tokens', id } = useSearch({ from: route });
  const navigate = useNavigate({ from: '/t/$tenant/settings/tokens' });
  const [creating, setCreating] = useState(false);
  const open = (opened: string | undefined) =>
    void navigate({
      search: { ...(tab === 'keys' && { tab }), ...(opened && { id: opened }) },
      replace: opened === undefined,
    });
  useShortcuts({ n: () => setCreating(true) });
  return (
    <Page
      wide
      title={t('title')}
      about={t('about')}
      actions={
        <Button
          variant="filled"
          leftSection={<Icon paths={plusIcon} />}
          onClick={() => setCreating(true)}
          aria-keyshortcuts="n"
        >
          {t(tab === 'keys' ? 'createKey' : 'create')}
        </Button>
      }
    >
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(next) => void navigate({ search: next === 'keys' ? { tab: 'keys' } : {}, replace: true })}
      >
        <Tabs.List mb="sm">
          <Tabs.Tab value="tokens">{t('tab.tokens')}</Tabs.Tab>
          <Tabs.Tab value="keys">{t('tab.keys')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="tokens">
          <TokenList opened={id} onOpen={open} onCreate={() => setCreating(true)} />
        </Tabs.Panel>
        <Tabs.Panel value="keys">
          <KeyList opened={id} onOpen={open} onCreate={() => setCreating(true)} />
        </Tabs.Panel>
      </Tabs>
      {creating && tab === 'tokens' && <CreateToken onClose={() => setCreating(false)} />}
      {creating && tab === 'keys' && <CreateKey onClose={() => setCreating(false)} />}
    </Page>
  );
}

interface ListOptions {
  readonly opened: string | undefined;
  readonly onOpen: (id: string | undefined) => void;
  readonly onCreate: () => void;
}

function TokenList({ opened, onOpen, onCreate }: ListOptions) {
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

function KeyList({ opened, onOpen, onCreate }: ListOptions) {
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
