import tableIcon from 'virtual:icon/table';
import { useTranslation } from 'react-i18next';
import { Icon } from '../pieces/icon.tsx';
import { BarsTable } from './bars-table.tsx';
import { LevelBars, type LevelBarsProps } from './level-bars.tsx';
import styles from './level-chart.module.css';

/** How many of each level came over time: as bars, or as the table that says the same. */
export function LevelChart({ asTable, ...props }: LevelBarsProps & { readonly asTable: boolean }) {
  return asTable ? <BarsTable {...props} /> : <LevelBars {...props} />;
}

/** Stands at the end of the line above the chart. */
export function TableToggle({ asTable, onToggle }: { asTable: boolean; onToggle: () => void }) {
  const { t } = useTranslation('charts');
  return (
    <button
      type="button"
      className={styles.toggle}
      aria-pressed={asTable}
      aria-label={t('asTable')}
      title={t('asTable')}
      onClick={onToggle}
    >
      <Icon paths={tableIcon} size={14} />
    </button>
  );
}
