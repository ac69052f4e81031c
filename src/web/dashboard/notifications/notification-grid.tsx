import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useChanges } from '../api/history.ts';
import type { HistoryPages } from '../api/history-pages.ts';
import { ErrorNotice } from '../pieces/notice.tsx';
import {
  type GridProps,
  rowHeightOf,
  useDayStart,
  useGridKeys,
  useHolding,
  useLayout,
} from './grid-behaviour.ts';
import { GridHead } from './grid-head.tsx';
import { NewOnes } from './new-ones.tsx';
import styles from './notification-grid.module.css';
import { NotificationRow, rowId } from './notification-row.tsx';
import { SkeletonRows } from './skeleton-rows.tsx';

interface NotificationGridProps extends GridProps {
  /** The rows are of a search before the one that is being read. */
  readonly isOld?: boolean;
}

/** Notifications, newest first, as far as one scrolls. Arrows move, Enter opens; new ones never move what is read. */
export function NotificationGrid(props: NotificationGridProps) {
  const { label, pages, activeId, isOld = false } = props;
  useChanges(pages);
  const scroller = useRef<HTMLDivElement>(null);
  const layout = useLayout(scroller);
  const { count } = pages;
  const rowHeight = rowHeightOf(layout);
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    initialOffset: pages.scrollTop,
    getItemKey: (index) => pages.row(index)?.id ?? index,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the virtual list measures anew when rows change their height
  useEffect(() => virtualizer.measure(), [rowHeight]);
  const items = virtualizer.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => pages.want(first, last));
  const activeIndex = activeId === undefined ? -1 : pages.indexOf(activeId);
  const keys = useGridKeys(props, count, activeIndex, (index) =>
    virtualizer.scrollToIndex(index, { align: 'auto' }),
  );
  const dayStart = useDayStart();
  const isShown = items.some(({ index }) => index === activeIndex);
  return (
    <div className={styles.frame}>
      <div
        ref={scroller}
        role="grid"
        tabIndex={0}
        aria-label={label}
        aria-rowcount={pages.isWhole ? count + 1 : -1}
        aria-busy={isOld}
        aria-activedescendant={isShown && activeId !== undefined ? rowId(activeId) : undefined}
        className={`${styles.scroller} ${isOld ? styles.old : ''}`}
        onKeyDown={keys}
        {...useHolding(pages)}
      >
        <GridHead layout={layout} />
        <div role="rowgroup" style={{ height: virtualizer.getTotalSize() }} className={styles.rows}>
          {items.map(({ index, start, key }) => {
            const notification = pages.row(index);
            return notification ? (
              <NotificationRow
                key={key}
                notification={notification}
                layout={layout}
                index={index}
                top={start}
                isActive={index === activeIndex}
                dayStart={dayStart}
                onOpen={props.onOpen}
                onRefine={props.onRefine}
              />
            ) : null;
          })}
        </div>
        {!pages.isReady && pages.error === undefined && <SkeletonRows />}
        <GridFoot pages={pages} />
      </div>
      <NewOnes pages={pages} scroller={scroller} />
    </div>
  );
}

function GridFoot({ pages }: { pages: HistoryPages }) {
  const { t } = useTranslation('history');
  if (pages.isReady && pages.error !== undefined)
    return (
      <div className={styles.foot}>
        <ErrorNotice error={pages.error} onRetry={() => void pages.extend()} />
      </div>
    );
  if (!pages.isReady || pages.count === 0) return null;
  return <div className={styles.foot}>{pages.isWhole ? t('allShown') : t('readingMore')}</div>;
}
