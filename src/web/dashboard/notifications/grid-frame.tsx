import type { KeyboardEvent, MouseEvent, ReactNode, RefObject } from 'react';
import { type GridProps, useDayStart, useHolding } from './grid-behaviour.ts';
import { GridHead } from './grid-head.tsx';
import { NewOnes } from './new-ones.tsx';
import styles from './notification-grid.module.css';
import { NotificationRow, type RowLayout, rowId } from './notification-row.tsx';

interface FrameProps extends GridProps {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly layout: RowLayout;
  /** With the head; -1 while it is not known. */
  readonly rowCount: number;
  readonly activeIndex: number;
  /** What is drawn, and where. */
  readonly items: readonly { readonly index: number; readonly start: number }[];
  readonly height: number;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly isOld?: boolean;
  /** Below the rows. */
  readonly children: ReactNode;
}

/** What a list of notifications is drawn in: its head, the rows that are in sight, and the way to new ones. */
export function GridFrame(props: FrameProps) {
  const { pages, layout, items, activeId, activeIndex, isOld = false } = props;
  const dayStart = useDayStart();
  const isShown = items.some(({ index }) => index === activeIndex);
  return (
    <div className={styles.frame}>
      <div
        ref={props.scroller}
        role="grid"
        tabIndex={0}
        aria-label={props.label}
        aria-rowcount={props.rowCount}
        aria-busy={isOld}
        aria-activedescendant={isShown && activeId !== undefined ? rowId(activeId) : undefined}
        className={`${styles.scroller} ${isOld ? styles.old : ''}`}
        onKeyDown={props.onKeyDown}
        onClick={(event) => {
          const notification = pages.row(rowAt(event));
          if (notification) props.onOpen(notification);
        }}
        {...useHolding(pages)}
      >
        <GridHead layout={layout} />
        <div role="rowgroup" style={{ height: props.height }} className={styles.rows}>
          {items.map(({ index, start }) => {
            const notification = pages.row(index);
            return notification ? (
              <NotificationRow
                key={notification.id}
                notification={notification}
                layout={layout}
                index={index}
                top={start}
                isActive={index === activeIndex}
                dayStart={dayStart}
                onRefine={props.onRefine}
              />
            ) : null;
          })}
        </div>
        {props.children}
      </div>
      <NewOnes pages={pages} scroller={props.scroller} />
    </div>
  );
}

/** The index of the row that a click was on; -1 where it was on none, or ended the marking of text, which is to be copied. */
function rowAt({ target, detail }: MouseEvent): number {
  if (detail === 1 && getSelection()?.type === 'Range') return -1;
  const row = (target as Element).closest('[role="row"]');
  // The head is the first.
  return Number(row?.getAttribute('aria-rowindex') ?? 1) - 2;
}
