import { useTranslation } from 'react-i18next';
import type { Overview } from '#contract/overview.ts';
import { useFormats } from '#web/dashboard/pieces/formats.ts';
import styles from './overview-page.module.css';

/** What was refused since the server started, by reason. */
export function Refused({ overview }: { overview: Overview | undefined }) {
  const { t } = useTranslation('overview');
  const formats = useFormats();
  return (
    <section className={styles.part}>
      <h2>{t('refusedBy')}</h2>
      {overview?.rejections.length === 0 && <p className={styles.quiet}>{t('noneRefused')}</p>}
      <ul className={styles.list}>
        {overview?.rejections.map(({ reason, count }) => (
          <li key={reason}>
            <span className={styles.grow}>{t(`reason.${reason}`)}</span>
            <span>{formats.number(count)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
