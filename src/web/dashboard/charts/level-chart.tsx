import tableIcon from 'virtual:icon/table';
import { useTranslation } from 'react-i18next';
import { Icon } from '../components/icon.tsx';
import { useLevelLook } from '../components/level-mark.tsx';
import { useFormats } from '../formats/formats.ts';
import { bucketSpan, LevelBars, type LevelBarsProps, sumOf, totalOf, useStack } from './level-bars.tsx';
import styles from './level-chart.module.css';

/** Counts by level over time, as bars or as a table. */
export function LevelChart({ asTable, ...props }: LevelBarsProps & { readonly asTable: boolean }) {
  return asTable ? <BarsTable {...props} /> : <LevelBars {...props} />;
}

/** Switches between bars and table. */
export function TableToggle({ asTable, onToggle }: { asTable: boolean; onToggle: () => void }) {
  const { t } = useTranslation();
  return (
    <button
      type="button"
      className={styles.toggle}
      aria-pressed={asTable}
      aria-label={t('chart.asTable')}
      title={t('chart.asTable')}
      onClick={onToggle}
    >
      <Icon paths={tableIcon} size={14} />
    </button>
  );
}

/** The counts as a table: the newest first, without empty times. */
function BarsTable({ label, buckets, bucketMs, onSelect }: Omit<LevelBarsProps, 'isOld'>) {
  const { t } = useTranslation();
  const formats = useFormats();
  const look = useLevelLook();
  const filled = buckets.filter(({ counts }) => totalOf(counts) > 0).reverse();
  const columns = useStack()(sumOf(filled)).map(({ level }) => level);
  return (
    <section className={styles.frame} aria-label={label}>
      <table className="table">
        <thead>
          <tr>
            <th>{t('field.time')}</th>
            {columns.map((level) => (
              <th key={level} className="end">
                {look(level).word}
              </th>
            ))}
            <th className="end">{t('chart.sum')}</th>
          </tr>
        </thead>
        <tbody>
          {filled.map(({ at, counts }) => (
            <tr key={at}>
              <td>
                <button
                  type="button"
                  className={styles.time}
                  onClick={() => onSelect({ from: Date.parse(at), until: Date.parse(at) + bucketMs })}
                >
                  {bucketSpan(at, bucketMs, formats)}
                </button>
              </td>
              {columns.map((level) => (
                <td key={level} className="end">
                  {counts[level] ? formats.number(counts[level]) : ''}
                </td>
              ))}
              <td className="end">{formats.number(totalOf(counts))}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {filled.length === 0 && <p className={styles.none}>{t('chart.nothing')}</p>}
    </section>
  );
}
