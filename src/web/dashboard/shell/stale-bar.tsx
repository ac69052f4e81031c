import unpluggedIcon from 'virtual:icon/plug-connected-x';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { retryStale, useStaleSince } from '../api/stale-data.ts';
import { useFormats } from '../pieces/formats.ts';
import { Icon } from '../pieces/icon.tsx';
import styles from './shell.module.css';

const retryMs = 5_000;
const dayMs = 86_400_000;

/** Says that the page cannot be refreshed and how old its data is, and tries again until it can. */
export function StaleBar() {
  const { t } = useTranslation();
  const formats = useFormats();
  const since = useStaleSince();
  const isStale = since !== undefined;
  useEffect(() => {
    if (!isStale) return;
    const timer = setInterval(retryStale, retryMs);
    return () => clearInterval(timer);
  }, [isStale]);
  return (
    <div role="status">
      {isStale && (
        <div className={styles.stale}>
          <Icon paths={unpluggedIcon} size={18} />
          {t('stale', {
            time: Date.now() - since < dayMs / 2 ? formats.shortClock(since) : formats.dateTime(since),
          })}
        </div>
      )}
    </div>
  );
}
