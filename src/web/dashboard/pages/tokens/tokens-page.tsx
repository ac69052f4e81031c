import plusIcon from 'virtual:icon/plus';
import { Button, Tabs } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/pieces/icon.tsx';
import { Remark } from '#web/dashboard/pieces/notice.tsx';
import { Page } from '#web/dashboard/pieces/page.tsx';
import { useShortcuts } from '#web/dashboard/shell/shortcuts.ts';
import { CreateKey } from './create/create-key.tsx';
import { CreateToken } from './create/create-token.tsx';
import { KeyList } from './key-list.tsx';
import { TokenList } from './token-list.tsx';

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
