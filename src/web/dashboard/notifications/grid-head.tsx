import { useTranslation } from 'react-i18next';
import styles from './notification-row.module.css';
import type { RowLayout } from './notification-row.tsx';

const all = ['time', 'level', 'notification', 'host', 'ip', 'sourceIp', 'panels'] as const;
const columns = {
  roomy: all,
  wide: all,
  medium: ['time', 'level', 'notification', 'host', 'ip', 'panels'],
  narrow: ['time', 'level', 'notification', 'host', 'panels'],
  card: ['level', 'notification'],
} as const;

/** The names of the columns; unseen where rows are cards. */
export function GridHead({ layout }: { layout: RowLayout }) {
  const { t } = useTranslation('history');
  return (
    <div role="rowgroup" className={layout === 'card' ? 'hidden' : styles.top}>
      <div role="row" aria-rowindex={1} className={`${styles.head} ${styles[layout]}`}>
        {columns[layout].map((name) => (
          <div role="columnheader" key={name}>
            {t(`column.${name}`)}
          </div>
        ))}
      </div>
    </div>
  );
}
