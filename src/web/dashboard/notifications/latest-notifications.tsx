import { useRef } from 'react';
import { useChanges } from '../api/history.ts';
import { ErrorNotice } from '../components/notice.tsx';
import { GridFrame, type GridProps, rowHeightOf, useGridKeys } from './grid-frame.tsx';
import { SkeletonRows, useLayout } from './list-frame.tsx';

/** A short list of the newest notifications without virtualization (NotificationGrid has it). */
export function LatestNotifications(props: GridProps & { readonly most: number }) {
  const { pages, most, activeId } = props;
  useChanges(pages);
  const scroller = useRef<HTMLDivElement>(null);
  const layout = useLayout(scroller);
  const count = Math.min(pages.count, most);
  const rowHeight = rowHeightOf(layout);
  const activeIndex = activeId === undefined ? -1 : pages.indexOf(activeId);
  const keys = useGridKeys(props, count, activeIndex, (index) =>
    scrollIntoSight(scroller.current, index, rowHeight),
  );
  return (
    <GridFrame
      {...props}
      scroller={scroller}
      layout={layout}
      rowCount={count + 1}
      activeIndex={activeIndex}
      items={Array.from({ length: count }, (_, index) => ({ index, start: index * rowHeight }))}
      height={count * rowHeight}
      onKeyDown={keys}
    >
      {!pages.isReady &&
        (pages.error === undefined ? (
          <SkeletonRows />
        ) : (
          <ErrorNotice error={pages.error} onRetry={() => void pages.start()} />
        ))}
    </GridFrame>
  );
}

/** The header covers the height of one row. */
function scrollIntoSight(scroller: HTMLElement | null, index: number, rowHeight: number): void {
  if (!scroller) return;
  const top = index * rowHeight;
  const room = scroller.clientHeight - 2 * rowHeight;
  if (top < scroller.scrollTop) scroller.scrollTop = top;
  else if (top > scroller.scrollTop + room) scroller.scrollTop = top - room;
}
