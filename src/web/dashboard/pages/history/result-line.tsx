import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useChanges } from '#web/dashboard/api/history.ts';
import type { HistoryPages } from '#web/dashboard/api/history-pages.ts';
import { TableToggle } from '#web/dashboard/charts/level-chart.tsx';
import { useFormats } from '#web/dashboard/pieces/formats.ts';
import styles from './result-line.module.css';
import { TimeMenu } from './time-menu.tsx';

/** Under the search: how many, of what time, and how long finding them took. */
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
  const isSaid = useSaidOnce(pages, isCounted ? known.count : undefined);
  return (
    <div className={styles.line}>
      <span aria-live={isSaid ? 'polite' : 'off'}>
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

/** Said is how many a search found, once; what arrives later is said by the list. */
function useSaidOnce(search: HistoryPages, count: number | undefined): boolean {
  const said = useRef({ search, count });
  if (said.current.search !== search || said.current.count === undefined) said.current = { search, count };
  return said.current.count === count;
}
