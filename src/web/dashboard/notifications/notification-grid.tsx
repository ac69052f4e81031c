import { Button } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { useChanges } from '../api/history.ts';
import type { HistoryPages } from '../api/history-pages.ts';
import { ErrorNotice } from '../components/notice.tsx';
import { useFormats } from '../formats/use-formats.tsx';
import { GridFrame, type GridProps, rowHeightOf, useGridKeys } from './grid-frame.tsx';
import { SkeletonRows, useLayout } from './list-frame.tsx';
import styles from './notification-grid.module.css';

interface NotificationGridProps extends GridProps {
  /** The element that scrolls and has the focus. */
  readonly scroller: RefObject<HTMLDivElement | null>;
  /** The rows are of the previous search. */
  readonly isOld?: boolean;
}

/** A virtualized list of notifications, newest first, loaded while scrolling. New ones never move the visible rows. */
export function NotificationGrid(props: NotificationGridProps) {
  const { pages, activeId, scroller } = props;
  useChanges(pages);
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
  return (
    <GridFrame
      {...props}
      layout={layout}
      rowCount={pages.isWhole ? count + 1 : -1}
      activeIndex={activeIndex}
      items={items}
      height={virtualizer.getTotalSize()}
      onKeyDown={keys}
    >
      {!pages.isReady && pages.error === undefined && <SkeletonRows />}
      <GridFoot pages={pages} />
    </GridFrame>
  );
}

function GridFoot({ pages }: { pages: HistoryPages }) {
  const { t } = useTranslation('history');
  const searchedTo = useSearchedTo(pages);
  if (pages.isReady && pages.error !== undefined)
    return (
      <div className={styles.foot}>
        <ErrorNotice error={pages.error} onRetry={() => void pages.extend()} />
      </div>
    );
  if (!pages.isReady || pages.count === 0) return null;
  if (searchedTo !== undefined)
    return (
      <div className={`${styles.foot} ${styles.partial}`}>
        <span role="status">{searchedTo}</span>
        <ContinueSearch pages={pages} />
      </div>
    );
  return <div className={styles.foot}>{pages.isWhole ? t('allShown') : t('readingMore')}</div>;
}

/** How far back a search got before its time ran out; undefined if it searched everything. */
export function useSearchedTo(pages: HistoryPages): string | undefined {
  const { t } = useTranslation('history');
  const formats = useFormats();
  useChanges(pages);
  if (pages.searchedTo === null) return undefined;
  return t('searchedTo', { time: formats.dateTime(pages.searchedTo) });
}

export function ContinueSearch({ pages }: { pages: HistoryPages }) {
  const { t } = useTranslation('history');
  useChanges(pages);
  return (
    <Button size="xs" loading={pages.isExtending} onClick={() => void pages.extend()}>
      {t('continueSearch')}
    </Button>
  );
}
