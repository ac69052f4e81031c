import { useTranslation } from 'react-i18next';
import { useLevels } from '#web/dashboard/api/queries.ts';
import { useLevelLook } from '#web/dashboard/components/level-mark.tsx';
import { useScheme } from '#web/dashboard/theme/scheme.ts';
import styles from './panel-drawer.module.css';
import type { PanelValues } from './panel-values.ts';

/** A busy hour, the most serious first. */
const busy = [
  'critical',
  'error',
  'error',
  'warning',
  'warning',
  'warning',
  'info',
  'info',
  'success',
  'info',
  'info',
];
/** Rows of a 16:9 screen at 100 %, and the number of cards in each of the first, as on a panel. */
const rowsAtFull = 5;
const widths = [1, 2, 3, 3, 3, 3, 3, 3];

/** A small picture of the panel with these settings in a busy hour. */
export function ScreenPreview({ values }: { values: PanelValues }) {
  const { t } = useTranslation('panels');
  const levels = useLevels();
  const lookOf = useLevelLook();
  const own = useScheme();
  const scheme = values.scheme === 'auto' ? own : values.scheme === 'light' ? 'light' : 'dark';
  const scale = Math.min(
    4,
    Math.max(0.5, Number(values.scalePercent === '' ? 100 : values.scalePercent) / 100 || 1),
  );
  const least = levels.get(values.minLevel)?.rank ?? 0;
  const wanted = busy.filter((level) => (levels.get(level)?.rank ?? 0) >= least);
  const rows = Math.max(1, Math.round(rowsAtFull / scale));
  const room = widths.slice(0, rows).reduce((sum, width) => sum + width, 0);
  const most = Math.min(room, Number(values.maxCards) || room);
  const fits = wanted.length <= most;
  const shown = wanted
    .slice(0, fits ? most : Math.max(0, most - 1))
    .map((level, place) => ({ level, place }));
  return (
    <figure className={styles.preview}>
      <div
        className={`${styles.screen} ${scheme}`}
        style={{ '--rows': rows, '--scale': scale } as object}
        aria-hidden="true"
      >
        <div className={styles.screenHead}>
          <i />
          <b />
          <em />
        </div>
        <div className={styles.cards}>
          {shown.map(({ level, place }) => (
            <span
              key={place}
              className={level === 'critical' ? styles.filledCard : styles.card}
              style={
                {
                  '--c': `var(--${level})`,
                  '--fill': lookOf(level).fill,
                  gridColumn: `span ${12 / (widths[rowOf(place)] ?? 3)}`,
                } as object
              }
            >
              <i className={styles.mark} />
              <i className={styles.line} />
            </span>
          ))}
          {!fits && (
            <span className={styles.more} style={{ gridColumn: 'span 4' }}>
              +{wanted.length - shown.length}
            </span>
          )}
        </div>
      </div>
      <figcaption className="muted">{t('previewCaption')}</figcaption>
    </figure>
  );
}

/** The row that the n-th card stands in. */
function rowOf(n: number): number {
  let before = 0;
  const at = widths.findIndex((width) => {
    before += width;
    return n < before;
  });
  return at === -1 ? widths.length - 1 : at;
}
