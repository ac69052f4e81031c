import { Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Key, Token } from '#contract/people/token.ts';
import { keysQuery, panelsQuery, tokensQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { RoleRemark } from '#web/dashboard/components/notice.tsx';
import { CreateButton, Page } from '#web/dashboard/components/page.tsx';
import { useOpened } from '#web/dashboard/fields/opened.ts';
import { CreateCredential } from './create-credential.tsx';
import { KeyDrawer, TokenDrawer } from './credential-drawer.tsx';
import { CredentialTable } from './credential-table.tsx';

/** The credentials of senders, screens and scripts. For admins alone. */
export function TokensPage() {
  const { t } = useTranslation('tokens');
  if (useTenant().may('admin')) return <Credentials />;
  return (
    <Page title={t('tokens')}>
      <RoleRemark what="mayNotSee" />
    </Page>
  );
}

function Credentials() {
  const { t } = useTranslation('tokens');
  const { tab = 'tokens' } = useSearch({ from: '/signed-in/t/$tenant/settings/tokens' });
  const [opened, onOpen] = useOpened();
  const navigate = useNavigate({ from: '/t/$tenant/settings/tokens' });
  const [isCreating, setCreating] = useState(false);
  const list: ListProps = { opened, onOpen, onCreate: () => setCreating(true) };
  return (
    <Page
      wide
      title={t('tokens')}
      about={t(tab === 'keys' ? 'keysAbout' : 'about')}
      actions={
        <CreateButton onClick={list.onCreate}>{t(tab === 'keys' ? 'createKey' : 'createToken')}</CreateButton>
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
          <TokenList {...list} />
        </Tabs.Panel>
        <Tabs.Panel value="keys">
          <KeyList {...list} />
        </Tabs.Panel>
      </Tabs>
      {isCreating && <CreateCredential kind={tab} onClose={() => setCreating(false)} />}
    </Page>
  );
}

interface ListProps {
  readonly opened: string | undefined;
  readonly onOpen: (id: string | undefined) => void;
  readonly onCreate: () => void;
}

function TokenList({ opened, ...list }: ListProps) {
  const { t } = useTranslation('tokens');
  const tenant = useTenant();
  const query = useQuery(tokensQuery(tenant));
  const { data: panels = [] } = useQuery(panelsQuery(tenant));
  const panelOf = ({ panelId }: Token) =>
    panelId === null ? undefined : (panels.find(({ id }) => id === panelId)?.name ?? t('deletedPanel'));
  const remarkOf = (token: Token) => {
    const panel = panelOf(token);
    if (panel === undefined) return undefined;
    // Pairing names the token after its panel: no need to name it twice.
    return token.name === `panel ${panel}` ? t('screensOwn') : t('ofPanel', { name: panel });
  };
  const token = query.data?.find(({ id }) => id === opened);
  const scopesOf = ({ scopes }: Token) =>
    scopes.map((scope) => (
      <span key={scope} className="chip mono">
        {scope}
      </span>
    ));
  return (
    <>
      <CredentialTable
        {...list}
        query={query}
        kind="tokens"
        column={[t('scopes'), scopesOf]}
        remarkOf={remarkOf}
      />
      {token && (
        <TokenDrawer
          key={token.id}
          token={token}
          panel={panelOf(token)}
          onClose={() => list.onOpen(undefined)}
        />
      )}
    </>
  );
}

function KeyList({ opened, ...list }: ListProps) {
  const { t } = useTranslation('tokens');
  const query = useQuery(keysQuery(useTenant()));
  const key = query.data?.find(({ id }) => id === opened);
  const roleOf = ({ role }: Key) => t(`role.${role}`);
  return (
    <>
      <CredentialTable {...list} query={query} kind="keys" column={[t('role'), roleOf]} />
      {key && <KeyDrawer key={key.id} credential={key} onClose={() => list.onOpen(undefined)} />}
    </>
  );
}
