import { useTranslation } from 'react-i18next';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import type { InitialDraft } from './draft.ts';
import styles from './editor.module.css';

/** Says what the conditions of a new rule lack of the search, or of the alarms, that it was made of. */
export function SearchNotice({ differences = [], leftOut = 0 }: InitialDraft) {
  const { t } = useTranslation('rules');
  const formats = useFormats();
  if (leftOut > 0)
    return (
      <p className={styles.search} role="note">
        {t('search.leftOut', { count: leftOut, number: formats.number(leftOut) })}
      </p>
    );
  if (differences.length === 0) return null;
  return (
    <section className={styles.search} aria-label={t('search.differs')}>
      <h3>{t('search.differs')}</h3>
      <ul>
        {differences.map(({ part, why }) => (
          <li key={`${part} ${why}`}>
            <code dir="auto">{part}</code> {t(`search.${why}`)}
          </li>
        ))}
      </ul>
    </section>
  );
}
