import chevronIcon from 'virtual:icon/chevron-down';
import { Button, Popover } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Histogram } from '#contract/history/search.ts';
import { histogramQuery, useChanges } from '#web/dashboard/api/history.ts';
import type { HistoryPages } from '#web/dashboard/api/history-pages.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { LevelChart, TableToggle, type TimeSpan } from '#web/dashboard/charts/level-chart.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { DateTimeField } from '#web/dashboard/fields/time-fields.tsx';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import { fromDateTimeField, toDateTimeField } from '#web/dashboard/formats/wall-clock.ts';
import {
  ageMs,
  ageText,
  quickRanges,
  readTimeRange,
  type TimeRange,
  withTimeRange,
} from '#web/dashboard/query/time-range.ts';
import styles from './history-page.module.css';

/** Below the search: the number of results, their time range, and how long the search took. */
export function ResultLine({
  q,
  pages,
  isOld,
  total,
  asTable,
  onTable,
  onSearch,
}: {
  q: string;
  pages: HistoryPages;
  isOld: boolean;
  total?: { readonly count: number; readonly complete: boolean } | undefined;
  asTable: boolean;
  onTable: () => void;
  onSearch: (text: string) => void;
}) {
  const { t } = useTranslation('history');
  const formats = useFormats();
  useChanges(pages);
  const known = total ?? (pages.isWhole ? { count: pages.count, complete: true } : undefined);
  const words = t('notifications', { count: known?.count ?? pages.count });
  const isCounted = pages.isReady && !isOld && known !== undefined;
  const isAnnounced = useAnnouncedOnce(pages, isCounted ? known.count : undefined);
  return (
    <div className={styles.line}>
      <span aria-live={isAnnounced ? 'polite' : 'off'}>
        {pages.isReady && !isOld && (
          <>
            <b>
              {known
                ? formats.number(known.count) + (known.complete ? '' : '+')
                : `${formats.number(pages.count)}+`}
            </b>{' '}
            {words}
          </>
        )}
      </span>
      <TimeMenu q={q} onSearch={onSearch} />
      <span>{t('newestFirst')}</span>
      <TableToggle asTable={asTable} onToggle={onTable} />
      {pages.tookMs !== undefined && !isOld && (
        <span className={styles.took} title={t('tookHint')}>
          {formats.duration(Math.max(1, Math.round(pages.tookMs)))}
        </span>
      )}
    </div>
  );
}

/** Screen readers hear the number of results once; the list announces later arrivals. */
function useAnnouncedOnce(search: HistoryPages, count: number | undefined): boolean {
  const announced = useRef({ search, count });
  if (announced.current.search !== search || announced.current.count === undefined)
    announced.current = { search, count };
  return announced.current.count === count;
}

/** The time range of the search. */
function TimeMenu({ q, onSearch }: { q: string; onSearch: (text: string) => void }) {
  const { t } = useTranslation('history');
  const [opened, setOpened] = useState(false);
  const range = readTimeRange(q);
  const choose = (next: TimeRange) => {
    setOpened(false);
    onSearch(withTimeRange(q, next));
  };
  const isQuick = range.since !== undefined && !range.after && !range.before;
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-start" width={280} trapFocus>
      <Popover.Target>
        <button type="button" className={styles.target} onClick={() => setOpened((was) => !was)}>
          <span className="hidden">{t('field.time')}: </span>
          {isQuick && ageMs(range.since ?? '') !== undefined
            ? ageText(range.since ?? '')
            : range.since || range.after || range.before
              ? spanText(range)
              : t('allTime')}
          <Icon paths={chevronIcon} size={14} />
        </button>
      </Popover.Target>
      <Popover.Dropdown className={styles.dropdown} aria-label={t('field.time')}>
        <div className={styles.quick}>
          {quickRanges.map((name) => (
            <Button
              key={name}
              size="xs"
              variant={isQuick && range.since === name ? 'light' : 'default'}
              aria-pressed={isQuick && range.since === name}
              onClick={() => choose({ since: name })}
            >
              {ageText(name)}
            </Button>
          ))}
          <Button
            size="xs"
            variant={Object.keys(range).length === 0 ? 'light' : 'default'}
            aria-pressed={Object.keys(range).length === 0}
            onClick={() => choose({})}
          >
            {t('allTime')}
          </Button>
        </div>
        <CustomRange key={q} range={range} onChoose={choose} />
      </Popover.Dropdown>
    </Popover>
  );
}

const spanText = ({ since, after, before }: TimeRange) =>
  `${(after ?? since ?? '').replace('T', ' ')} – ${(before ?? '').replace('T', ' ')}`.trim();

/** The time of a term, as a field has it: a day begins at midnight, an instant is shown in the tenant's time zone. */
function fieldOf(text: string, timeZone: string): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return `${text}T00:00`;
  if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(text)) return text;
  const at = Date.parse(text);
  return Number.isNaN(at) ? '' : toDateTimeField(at, timeZone);
}

function CustomRange({ range, onChoose }: { range: TimeRange; onChoose: (range: TimeRange) => void }) {
  const { t } = useTranslation('history');
  const { timeZone } = useTenant();
  const { since, after: given = '', before: until = '' } = range;
  // Only an open range begins with a suggestion: with one of the two ends given, the other stays open.
  const start = Date.now() - ((since && ageMs(since)) || 3_600_000);
  const [after, setAfter] = useState(
    fieldOf(given, timeZone) || (until === '' ? toDateTimeField(start, timeZone) : ''),
  );
  const [before, setBefore] = useState(fieldOf(until, timeZone));
  const isBackward =
    after !== '' &&
    before !== '' &&
    (fromDateTimeField(before, timeZone) ?? 0) <= (fromDateTimeField(after, timeZone) ?? 0);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isBackward) onChoose({ ...(after && { after }), ...(before && { before }) });
  };
  return (
    <form className={styles.custom} onSubmit={submit}>
      <DateTimeField label={t('from')} value={after} onChange={setAfter} />
      <DateTimeField
        label={t('until')}
        value={before}
        onChange={setBefore}
        error={isBackward ? t('backward') : undefined}
      />
      <div className={styles.zone}>
        <span>{timeZone}</span>
        <Button type="submit" size="xs" disabled={isBackward || (after === '' && before === '')}>
          {t('show')}
        </Button>
      </div>
    </form>
  );
}

/** The histogram of the results; dragging selects a time range. Its height stays the same while it loads. */
export function HistoryBars({
  histogram,
  isOld,
  asTable,
  onSelect,
}: {
  histogram: Histogram | undefined;
  isOld: boolean;
  asTable: boolean;
  onSelect: (span: TimeSpan) => void;
}) {
  const { t } = useTranslation('history');
  const formats = useFormats();
  if (!histogram) return <div className={styles.bars} />;
  const { buckets, bucketMs, total, searchedTo } = histogram;
  const label = t('barsLabel', { count: total, number: formats.number(total) });
  return (
    <div className={styles.bars}>
      <LevelChart
        asTable={asTable}
        label={label}
        buckets={buckets}
        bucketMs={bucketMs}
        onSelect={onSelect}
        isOld={isOld}
      />
      {searchedTo !== null && (
        <p className={styles.partly}>{t('countedPartly', { time: formats.dateTime(searchedTo) })}</p>
      )}
    </div>
  );
}

const wideBuckets = 100;
const narrowBuckets = 50;
/** The least time between two counts, because counting is expensive for the server. */
const recountMs = 4_000;

/** The histogram of a search, counted again as new ones arrive; the previous one stays until then. */
export function useHistogram(
  q: string,
  pages: HistoryPages,
): { histogram: Histogram | undefined; isCounting: boolean } {
  const isNarrow = useMediaQuery('(max-width: 760px)', undefined, { getInitialValueInEffect: false });
  const { since, after } = readTimeRange(q);
  const allTime = since === undefined && after === undefined;
  const ask = { q, buckets: isNarrow ? narrowBuckets : wideBuckets, allTime };
  const { data, isPlaceholderData, refetch, error } = useQuery({
    ...histogramQuery(useTenant(), ask),
    // An invalid search is not counted.
    enabled: pages.isReady,
    staleTime: recountMs,
  });
  const newest = pages.newest;
  const counted = useRef({ newest, at: 0 });
  useEffect(() => {
    if (!pages.isReady || counted.current.newest === newest) return;
    const waitMs = Math.max(0, counted.current.at + recountMs - Date.now());
    const timer = setTimeout(() => {
      counted.current = { newest, at: Date.now() };
      void refetch();
    }, waitMs);
    return () => clearTimeout(timer);
  }, [pages, newest, refetch]);
  return { histogram: error ? undefined : data, isCounting: isPlaceholderData };
}
