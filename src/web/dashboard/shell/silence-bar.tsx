import unpluggedIcon from 'virtual:icon/plug-connected-x';
import { useTranslation } from 'react-i18next';
import { useFormats } from '../pieces/formats.ts';
import { Icon } from '../pieces/icon.tsx';
import { useSilentSince } from './contact.ts';
import styles from './shell.module.css';

/** Says that the page is not up to date, and since when: old data stays in sight, and is never passed off as new. */
export function SilenceBar() {
  const { t } = useTranslation();
  const formats = useFormats();
  const since = useSilentSince();
  return (
    <div role="status">
      {since !== undefined && (
        <div className={styles.silence}>
          <Icon paths={unpluggedIcon} size={18} />
          {t('silent', { time: formats.shortClock(since) })}
        </div>
      )}
    </div>
  );
}
