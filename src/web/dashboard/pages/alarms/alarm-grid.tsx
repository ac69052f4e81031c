import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  type RefObject,
  useEffect,
} from 'react';
import { useTranslation } from 'react-i18next';
import type { AlarmAction } from '#contract/history/alarm.ts';
import type { AlarmList } from '#web/dashboard/api/alarm-list.ts';
import { useNow } from '#web/dashboard/formats/use-formats.tsx';
import {
  isListKey,
  ListFrame,
  type RowLayout,
  selectsText,
  stepTo,
  useLayout,
} from '#web/dashboard/notifications/list-frame.tsx';
import type { OnRefine } from '#web/dashboard/notifications/notification-row.tsx';
import type { Grouping, ListLine } from './alarm-groups.ts';
import { Line, lineId, selectedOf } from './alarm-row.tsx';
import styles from './alarm-rows.module.css';
import { type Swipe, useRowTouch } from './row-touch.ts';
import type { Selection } from './use-selection.ts';

export interface AlarmGridProps {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly list: AlarmList;
  readonly lines: readonly ListLine[];
  readonly grouping: Grouping;
  readonly selection: Selection;
  readonly maySelect: boolean;
  readonly activeIndex: number;
  /** Rows are of another search, until that has been read. */
  readonly isOld: boolean;
  readonly onMove: (line: ListLine) => void;
  /** An alarm is shown, and a group opens or closes. */
  readonly onOpen: (line: ListLine) => void;
  /** What a finger to a side does. */
  readonly swipes: Readonly<Record<Swipe, AlarmAction>>;
  readonly onSwipe: (line: ListLine, way: Swipe) => void;
  readonly onRefine: OnRefine;
  /** Shows the alarm of a notification. */
  readonly onShow: (id: string) => void;
  /** Below the rows. */
  readonly children: ReactNode;
}

const heightOf = (layout: RowLayout, line: ListLine | undefined): number =>
  layout === 'card' ? 60 : line && 'group' in line ? 40 : 36;

/** The list of alarms and groups. Only the rows in sight are drawn. */
export function AlarmGrid(props: AlarmGridProps) {
  const { scroller, list, lines, selection, maySelect, activeIndex, isOld } = props;
  const { t } = useTranslation('alarms');
  const layout = useLayout(scroller);
  const now = useNow();
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => heightOf(layout, lines[index]),
    overscan: 8,
    initialOffset: list.scrollTop,
    getItemKey: (index) => lines[index]?.key ?? index,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the virtual list measures anew when lines change their height
  useEffect(() => virtualizer.measure(), [layout, lines]);
  const items = virtualizer.getVirtualItems();
  const active = lines[activeIndex];
  const isShown = items.some(({ index }) => index === activeIndex);
  const show = (index: number) => virtualizer.scrollToIndex(index, { align: 'auto' });
  const touch = useRowTouch({
    onSwipe: (index, way) => lines[index] && maySelect && props.onSwipe(lines[index], way),
    onHold: (index) => lines[index] && maySelect && selection.toggle(lines[index]),
  });
  return (
    <ListFrame
      scroller={scroller}
      list={list}
      isOld={isOld}
      height={virtualizer.getTotalSize()}
      head={<Head layout={layout} maySelect={maySelect} />}
      below={props.children}
      frameStyle={
        {
          // On the line above the rows, so that it hides little of the first.
          '--banner-top': '-16px',
          '--right': JSON.stringify(t(`short.${props.swipes.right}`)),
          '--left': JSON.stringify(t(`short.${props.swipes.left}`)),
        } as CSSProperties
      }
      role="treegrid"
      aria-label={t('listLabel')}
      aria-multiselectable={maySelect}
      aria-rowcount={lines.length + 1}
      aria-activedescendant={isShown && active ? lineId(active.key) : undefined}
      className={`${styles.list} ${maySelect ? styles.mayAct : ''}`}
      onKeyDown={(event) => onGridKey(event, props, show)}
      onClick={(event) => onGridClick(event, props, layout)}
      onMouseDown={onGridMouseDown}
      {...touch}
    >
      {items.map(({ index, start }) => {
        const line = lines[index];
        return (
          line && (
            <Line
              key={line.key}
              line={line}
              index={index}
              top={start}
              layout={layout}
              grouping={props.grouping}
              isActive={index === activeIndex}
              selected={selectedOf(line, selection.keys)}
              maySelect={maySelect && (layout !== 'card' || selection.keys.size > 0)}
              now={now}
              onRefine={props.onRefine}
              onShow={props.onShow}
            />
          )
        );
      })}
    </ListFrame>
  );
}

/** Arrows, Home, End and Page keys move; Enter opens, Space selects, and arrows to the sides close and open a group. */
function onGridKey(event: KeyboardEvent, props: AlarmGridProps, show: (index: number) => void): void {
  if (!isListKey(event)) return;
  const { lines, activeIndex, selection, maySelect, onOpen, onMove } = props;
  const active = lines[activeIndex];
  const act = (action: () => void) => {
    event.preventDefault();
    action();
  };
  if (active && event.key === 'Enter') return act(() => onOpen(active));
  if (active && event.key === ' ' && maySelect) return act(() => selection.toggle(active, event.shiftKey));
  if (active && 'group' in active && event.key === (active.isOpen ? 'ArrowLeft' : 'ArrowRight'))
    return act(() => onOpen(active));
  const index = stepTo(event.key, activeIndex, lines.length);
  if (index === undefined) return;
  act(() => {
    const line = lines[index];
    if (!line) return;
    show(index);
    if (event.shiftKey && maySelect) selection.toggle(line, true);
    onMove(line);
  });
}

function onGridClick(
  event: MouseEvent,
  { lines, selection, onOpen, onMove }: AlarmGridProps,
  layout: RowLayout,
): void {
  const target = event.target as Element;
  const line = lines[Number(target.closest<HTMLElement>('[data-line]')?.dataset.line ?? -1)];
  if (!line) return;
  const isSelecting = layout === 'card' && selection.keys.size > 0;
  if (target.closest('[data-select]') || isSelecting) {
    selection.toggle(line, event.shiftKey);
    onMove(line);
    return;
  }
  if (!selectsText(event)) onOpen(line);
}

/** The list has the focus, not a box: keys act on what is selected. A range with Shift selects no text. */
function onGridMouseDown(event: MouseEvent<HTMLElement>): void {
  const isBox = (event.target as Element).closest('[data-select]') !== null;
  if (isBox || event.shiftKey) event.preventDefault();
  if (isBox) event.currentTarget.focus({ preventScroll: true });
}

/** The names of the columns, for screen readers. */
function Head({ layout, maySelect }: { layout: RowLayout; maySelect: boolean }) {
  const { t } = useTranslation('alarms');
  const names = [
    ...(maySelect && layout !== 'card' ? [t('column.select')] : []),
    t('field.level'),
    t('alarm'),
    ...(layout === 'card' ? [] : [t('field.host')]),
    ...(layout === 'card' || layout === 'narrow' ? [] : [t('field.labels')]),
    ...(layout === 'card' ? [] : [t('column.who')]),
    ...(layout === 'roomy' ? [t('fact.shownOn')] : []),
    ...(layout === 'card' ? [] : [t('column.age')]),
  ];
  return (
    <div role="rowgroup" className="hidden">
      <div role="row" aria-rowindex={1}>
        {names.map((name) => (
          <div role="columnheader" key={name}>
            {name}
          </div>
        ))}
      </div>
    </div>
  );
}
