import panelIcon from 'virtual:icon/device-tv';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { livePanelsQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { EmptyState } from '#web/dashboard/components/notice.tsx';
import { CreateButton, Page } from '#web/dashboard/components/page.tsx';
import { useOpened } from '#web/dashboard/fields/opened.ts';
import type { PanelsSearch } from '#web/dashboard/search-params.ts';
import { OpenPanelButton } from './open-panel-button.tsx';
import { AskAdminDialog, PairDialog } from './pair-dialog.tsx';
import { PanelDrawer } from './panel-drawer.tsx';
import styles from './panel-list.module.css';
import { PanelList } from './panel-list.tsx';

const route = '/signed-in/t/$tenant/panels';

/** The tenant's panels: their state, what they show, their commands. */
export function PanelsPage() {
  const { t } = useTranslation('panels');
  const tenant = useTenant();
  const { pair } = useSearch({ from: route });
  const [id, open] = useOpened();
  const navigate = useNavigate({ from: '/t/$tenant/panels' });
  const query = useQuery(livePanelsQuery(tenant));
  const { data: panels } = query;
  const show = (search: PanelsSearch, replace = false) => void navigate({ search, replace });
  const mayPair = tenant.may('admin');
  const openPairing = () => show({ pair: 'new' });
  return (
    <Page
      wide
      title={t('panels')}
      about={t('about')}
      actions={
        <>
          <OpenPanelButton />
          {mayPair && <CreateButton onClick={openPairing}>{t('approve')}</CreateButton>}
        </>
      }
    >
      <PanelList
        query={query}
        empty={<EmptyPanels onApprove={mayPair ? openPairing : undefined} />}
        onOpen={open}
      />
      {id !== undefined && panels && (
        <PanelDrawer key={id} panel={panels.find((each) => each.id === id)} onClose={() => open(undefined)} />
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

/** The two ways to a first panel. Without `onApprove` the person may not approve one. */
function EmptyPanels({ onApprove }: { onApprove: (() => void) | undefined }) {
  const { t } = useTranslation('panels');
  const ways = (
    <div className={styles.ways}>
      <section>
        <h2>{t('wayTv')}</h2>
        <ol>
          <li>
            {t('wayTv1')} <span className="mono">{`${location.origin}/panel`}</span>
          </li>
          <li>{t('wayTv2')}</li>
          <li>{t('wayTv3')}</li>
        </ol>
        {onApprove ? (
          <div className={styles.waysAction}>
            <Button variant="filled" onClick={onApprove}>
              {t('approve')}
            </Button>
          </div>
        ) : (
          <p className="muted">{t('approveNeedsAdmin')}</p>
        )}
      </section>
      <section>
        <h2>{t('wayHere')}</h2>
        <ol>
          <li>{t('wayHere1')}</li>
          <li>{t('wayHere2')}</li>
        </ol>
        <div className={styles.waysAction}>
          <OpenPanelButton />
        </div>
      </section>
    </div>
  );
  return (
    <EmptyState icon={panelIcon} title={t('empty')} action={ways}>
      {t('emptyText')}
    </EmptyState>
  );
}
