import plusIcon from 'virtual:icon/plus';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { livePanelsQuery } from '#web/dashboard/api/panels.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/pieces/icon.tsx';
import { ErrorNotice } from '#web/dashboard/pieces/notice.tsx';
import { Page } from '#web/dashboard/pieces/page.tsx';
import type { PanelsSearch } from '#web/dashboard/searches.ts';
import { useShortcuts } from '#web/dashboard/shell/shortcuts.ts';
import { EmptyPanels, OpenHere } from './empty-panels.tsx';
import { AskAdminDialog, PairDialog } from './pairing/pair-dialog.tsx';
import { PanelDrawer } from './panel/panel-drawer.tsx';
import { PanelList } from './panel-list.tsx';

const route = '/signed-in/t/$tenant/panels';

/** Every screen of the tenant: how it stands, what it shows, and what can be done with it. */
export function PanelsPage() {
  const { t } = useTranslation('panels');
  const tenant = useTenant();
  const { pair, id } = useSearch({ from: route });
  const navigate = useNavigate({ from: '/t/$tenant/panels' });
  const { data: panels, error, refetch } = useQuery(livePanelsQuery(tenant));
  const show = (search: PanelsSearch, replace = false) => void navigate({ search, replace });
  const mayPair = tenant.may('admin');
  const openPairing = () => show({ pair: 'new' });
  useShortcuts(mayPair ? { n: openPairing } : {});
  return (
    <Page
      wide
      title={t('title')}
      about={t('about')}
      actions={
        <>
          <OpenHere />
          {mayPair && (
            <Button
              variant="filled"
              leftSection={<Icon paths={plusIcon} />}
              onClick={openPairing}
              aria-keyshortcuts="n"
            >
              {t('approve')}
            </Button>
          )}
        </>
      }
    >
      {error && !panels && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {panels?.length === 0 && <EmptyPanels onApprove={mayPair ? openPairing : undefined} />}
      {(panels?.length !== 0 || error) && !(error && !panels) && (
        <PanelList panels={panels} onOpen={(panel) => show({ id: panel })} />
      )}
      {id !== undefined && panels && (
        <PanelDrawer key={id} panel={panels.find((each) => each.id === id)} onClose={() => show({}, true)} />
      )}
      {pair !== undefined && !mayPair && (
        <AskAdminDialog code={pair === 'new' ? '' : pair} onClose={() => show({}, true)} />
      )}
      {pair !== undefined && mayPair && panels && (
        <PairDialog
          panels={panels}
          code={pair === 'new' ? '' : pair}
          onClose={() => show({}, true)}
          onSetUp={(panel) => show({ id: panel }, true)}
        />
      )}
    </Page>
  );
}
