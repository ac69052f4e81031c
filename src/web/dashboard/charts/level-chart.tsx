import tableIcon from 'virtual:icon/table';
import { type PointerEvent, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CountBucket } from '#contract/history/search.ts';
import { useLevels } from '../api/queries.ts';
import { Icon } from '../components/icon.tsx';
import { useLevelLook } from '../components/level-mark.tsx';
import type { Formats } from '../formats/formats.ts';
import { useFormats } from '../formats/use-formats.tsx';
import styles from './level-chart.module.css';

export interface TimeSpan {
  readonly from: number;
  readonly until: number;
}

interface LevelBarsProps {
  /** The bars in a sentence, for screen readers; the table has the numbers. */
  readonly label: string;
  readonly buckets: readonly CountBucket[];
  readonly bucketMs: number;
  /** A time is selected by dragging, by a click on a bar, or by two clicks with Shift. */
  readonly onSelect: (span: TimeSpan) => void;
  readonly isOld?: boolean;
}

/** A stacked bar chart over time: one colour for each level, the highest rank on top. */
function LevelBars({ label, buckets, bucketMs, onSelect, isOld = false }: LevelBarsProps) {
  const stackOf = useStack();
  const look = useLevelLook();
  const [pointed, setPointed] = useState<number>();
  const { chosen, ...pointer } = useSelecting(buckets, bucketMs, onSelect);
  const most = useMemo(() => Math.max(1, ...buckets.map((bucket) => totalOf(bucket.counts))), [buckets]);
  const bucket = pointed === undefined ? undefined : buckets[pointed];
  return (
    <div
      role="img"
      aria-label={label}
      className={`${styles.bars} ${isOld ? styles.old : ''}`}
      {...pointer}
      onPointerMove={(event) => {
        setPointed(indexAt(event, buckets.length));
        pointer.onPointerMove(event);
      }}
      onPointerLeave={() => setPointed(undefined)}
    >
      {buckets.map(({ at, counts }, index) => (
        <div
          key={at}
          className={styles.bar}
          data-pointed={index === pointed}
          data-chosen={isIn(index, chosen)}
        >
          {stackOf(counts).map(({ level, count }) => (
            <i key={level} style={{ height: `${(count / most) * 100}%`, background: look(level).color }} />
          ))}
        </div>
      ))}
      {bucket && pointed !== undefined && (
        <BarHint
          bucket={bucket}
          bucketMs={bucketMs}
          counts={stackOf(bucket.counts)}
          share={(pointed + 0.5) / buckets.length}
        />
      )}
    </div>
  );
}

function BarHint({
  bucket,
  bucketMs,
  counts,
  share,
}: {
  bucket: CountBucket;
  bucketMs: number;
  counts: readonly LevelCount[];
  /** Where along the bars, from 0 to 1. */
  share: number;
}) {
  const { t } = useTranslation();
  const formats = useFormats();
  const look = useLevelLook();
  const side = share < 0.5 ? { left: `${share * 100}%` } : { right: `${(1 - share) * 100}%` };
  return (
    <div className={styles.hint} style={side}>
      <div>{bucketSpan(bucket.at, bucketMs, formats)}</div>
      {counts.length === 0 && <div className={styles.quiet}>{t('chart.nothing')}</div>}
      {counts.map(({ level, count }) => (
        <div key={level} style={{ color: look(level).color }}>
          <b>{formats.number(count)}</b> {look(level).word}
        </div>
      ))}
    </div>
  );
}

type Range = readonly [number, number];

const isIn = (index: number, range: Range | undefined) =>
  range !== undefined && index >= Math.min(...range) && index <= Math.max(...range);

function indexAt(event: PointerEvent<HTMLElement>, length: number): number {
  const { left, width } = event.currentTarget.getBoundingClientRect();
  return Math.max(0, Math.min(length - 1, Math.floor(((event.clientX - left) / width) * length)));
}

function useSelecting(buckets: readonly CountBucket[], bucketMs: number, onSelect: (span: TimeSpan) => void) {
  const [chosen, setChosen] = useState<Range>();
  const anchor = useRef<number>(undefined);
  const finish = ([a, b]: Range) => {
    setChosen(undefined);
    anchor.current = undefined;
    const first = buckets[Math.min(a, b)];
    const last = buckets[Math.max(a, b)];
    if (first && last) onSelect({ from: Date.parse(first.at), until: Date.parse(last.at) + bucketMs });
  };
  return {
    chosen,
    onPointerDown(event: PointerEvent<HTMLElement>) {
      if (event.button !== 0) return;
      const index = indexAt(event, buckets.length);
      if (event.shiftKey && anchor.current !== undefined) return finish([anchor.current, index]);
      anchor.current = index;
      setChosen([index, index]);
      if (!event.shiftKey) event.currentTarget.setPointerCapture(event.pointerId);
    },
    onPointerMove(event: PointerEvent<HTMLElement>) {
      if (anchor.current === undefined || event.buttons === 0) return;
      setChosen([anchor.current, indexAt(event, buckets.length)]);
    },
    onPointerUp(event: PointerEvent<HTMLElement>) {
      if (anchor.current === undefined || event.shiftKey) return;
      finish([anchor.current, indexAt(event, buckets.length)]);
    },
    onPointerCancel() {
      anchor.current = undefined;
      setChosen(undefined);
    },
  };
}

interface LevelCount {
  readonly level: string;
  readonly count: number;
}

type Counts = Readonly<Record<string, number>>;

export const totalOf = (counts: Counts): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

/** The levels with a count, the most serious first. */
export function useStack(): (counts: Counts) => LevelCount[] {
  const levels = useLevels();
  const rank = (level: string) => levels.get(level)?.rank ?? 20;
  return (counts) =>
    Object.entries(counts)
      .filter(([, count]) => count > 0)
      .map(([level, count]) => ({ level, count }))
      .sort((a, b) => rank(b.level) - rank(a.level) || a.level.localeCompare(b.level));
}

/** The sum of several counts. */
export function sumOf(all: readonly { readonly counts: Counts }[]): Counts {
  const sums: Record<string, number> = {};
  for (const { counts } of all)
    for (const [level, count] of Object.entries(counts)) sums[level] = (sums[level] ?? 0) + count;
  return sums;
}

const dayMs = 86_400_000;

/** As in "21 Nov, 09:15 – 09:30", or the day alone where buckets are days. */
function bucketSpan(at: string, bucketMs: number, formats: Formats): string {
  const from = Date.parse(at);
  if (bucketMs === dayMs) return formats.date(from);
  if (bucketMs > dayMs) return `${formats.date(from)} – ${formats.date(from + bucketMs - 1)}`;
  if (bucketMs < 60_000) return `${formats.dayTime(from)}:${new Date(from).toISOString().slice(17, 19)}`;
  return `${formats.dayTime(from)} – ${formats.shortClock(from + bucketMs)}`;
}

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
