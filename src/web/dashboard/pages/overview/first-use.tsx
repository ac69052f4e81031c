import bellIcon from 'virtual:icon/bell';
import { useTranslation } from 'react-i18next';
import { curlWithJson } from '#web/dashboard/api/curl.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { CopyField } from '#web/dashboard/pieces/fields/copy-field.tsx';
import { LinkButton } from '#web/dashboard/pieces/link-button.tsx';
import { EmptyState } from '#web/dashboard/pieces/notice.tsx';
import styles from './first-use.module.css';

/** Before the first notification: how to send it. It gives way to the overview the moment one arrives. */
export function FirstUse() {
  const { t } = useTranslation('overview');
  const { name, may } = useTenant();
  const example = { title: t('exampleTitle'), message: t('exampleMessage'), level: 'warning', host: 'db-01' };
  return (
    <div className={styles.frame}>
      <EmptyState
        icon={bellIcon}
        title={t('waiting')}
        action={
          may('admin') && (
            <div className={styles.ways}>
              <LinkButton to="/t/$tenant/settings/tokens" params={{ tenant: name }} variant="filled">
                {t('makeToken')}
              </LinkButton>
              <LinkButton to="/t/$tenant/welcome" params={{ tenant: name }}>
                {t('stepByStep')}
              </LinkButton>
            </div>
          )
        }
      >
        {may('admin') ? t('waitingHint') : t('waitingHintViewer')}
      </EmptyState>
      <div className={styles.command}>
        <CopyField text={curlWithJson(location.origin, t('yourToken'), example)} label="curl" />
      </div>
    </div>
  );
}
