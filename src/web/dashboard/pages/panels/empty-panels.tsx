import panelIcon from 'virtual:icon/device-tv';
import openIcon from 'virtual:icon/external-link';
import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Icon } from '#web/dashboard/pieces/icon.tsx';
import { EmptyState } from '#web/dashboard/pieces/notice.tsx';
import styles from './panel-list.module.css';

/** A panel in a tab of this browser: it shows a code of its own, like any other screen. */
export function OpenHere() {
  const { t } = useTranslation('panels');
  return (
    <Button
      component="a"
      href="/panel"
      target="_blank"
      rel="noopener"
      leftSection={<Icon paths={openIcon} />}
    >
      {t('openHere')}
    </Button>
  );
}

/** The two ways to a first panel. Without `onApprove` the person may not approve one. */
export function EmptyPanels({ onApprove }: { onApprove: (() => void) | undefined }) {
  const { t } = useTranslation('panels');
  return (
    <EmptyState icon={panelIcon} title={t('empty')} action={<Ways onApprove={onApprove} />}>
      {t('emptyText')}
    </EmptyState>
  );
}

function Ways({ onApprove }: { onApprove: (() => void) | undefined }) {
  const { t } = useTranslation('panels');
  return (
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
          <OpenHere />
        </div>
      </section>
    </div>
  );
}
