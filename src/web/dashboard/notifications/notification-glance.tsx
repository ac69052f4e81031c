import { useRef } from 'react';
import { useChanges } from '../api/history.ts';
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

/** The newest few notifications, all of them drawn: a glance, where NotificationGrid is a list to scroll through. */
export function NotificationGlance(props: GridProps & { readonly most: number }) {
  const { label, pages, most, activeId } = props;
  useChanges(pages);
  const scroller = useRef<HTMLDivElement>(null);
  const layout = useLayout(scroller);
  const count = Math.min(pages.count, most);
  const rowHeight = rowHeightOf(layout);
  const activeIndex = activeId === undefined ? -1 : pages.indexOf(activeId);
  const keys = useGridKeys(props, count, activeIndex, (index) =>
    scrollIntoSight(scroller.current, index, rowHeight),
  );
  const dayStart = useDayStart();
  const isShown = activeIndex >= 0 && activeIndex < count;
  return (
    <div className={styles.frame}>
      <div
        ref={scroller}
        role="grid"
        tabIndex={0}
        aria-label={label}
        aria-rowcount={count + 1}
        aria-activedescendant={isShown && activeId !== undefined ? rowId(activeId) : undefined}
        className={styles.scroller}
        onKeyDown={keys}
        {...useHolding(pages)}
      >
        <GridHead layout={layout} />
        <div role="rowgroup" style={{ height: count * rowHeight }} className={styles.rows}>
          {Array.from({ length: count }, (_, index) => {
            const notification = pages.row(index);
            return notification ? (
              <NotificationRow
                key={notification.id}
                notification={notification}
                layout={layout}
                index={index}
                top={index * rowHeight}
                isActive={index === activeIndex}
                dayStart={dayStart}
                onOpen={props.onOpen}
                onRefine={props.onRefine}
              />
            ) : null;
          })}
        </div>
        {!pages.isReady &&
          (pages.error === undefined ? (
            <SkeletonRows />
          ) : (
            <ErrorNotice error={pages.error} onRetry={() => void pages.start()} />
          ))}
      </div>
      <NewOnes pages={pages} scroller={scroller} />
    </div>
  );
}

/** As little as it takes; the head of the list covers the first row's height. */
function scrollIntoSight(scroller: HTMLElement | null, index: number, rowHeight: number): void {
  if (!scroller) return;
  const top = index * rowHeight;
  const room = scroller.clientHeight - 2 * rowHeight;
  if (top < scroller.scrollTop) scroller.scrollTop = top;
  else if (top > scroller.scrollTop + room) scroller.scrollTop = top - room;
}
