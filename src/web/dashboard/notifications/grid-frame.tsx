/** What lists of notifications have in common, drawn as a whole or a part at a time. */
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useState,
} from 'react';
import { useTranslation } from 'react-i18next';
import type { HistoryNotification } from '#contract/history/notification.ts';
import type { HistoryPages } from '../api/history-pages.ts';
import { useTenant } from '../api/tenant.tsx';
import { fromDateTimeField, toDateTimeField } from '../formats/wall-clock.ts';
import shared from './list-frame.module.css';
import { isListKey, ListFrame, type RowLayout, selectsText, stepTo } from './list-frame.tsx';
import styles from './notification-grid.module.css';
import { NotificationRow, type OnRefine, rowId } from './notification-row.tsx';

export interface GridProps {
  readonly label: string;
  readonly pages: HistoryPages;
  readonly activeId: string | undefined;
  readonly onOpen: (notification: HistoryNotification) => void;
  readonly onMove: (notification: HistoryNotification) => void;
  readonly onRefine: OnRefine;
}

export const rowHeightOf = (layout: RowLayout): number => (layout === 'card' ? 60 : 36);

/** Arrows, Home, End and Page keys move the active row; Enter opens it. */
export function useGridKeys(
  { pages, activeId, onMove, onOpen }: Pick<GridProps, 'pages' | 'activeId' | 'onMove' | 'onOpen'>,
  count: number,
  activeIndex: number,
  show: (index: number) => void,
) {
  return (event: KeyboardEvent) => {
    if (!isListKey(event)) return;
    const active = pages.row(activeIndex);
    if (event.key === 'Enter' && active && activeId !== undefined) {
      // Where the drawer gets the focus, the same key would click its Close button.
      event.preventDefault();
      return onOpen(active);
    }
    const index = stepTo(event.key, activeIndex, count);
    if (index === undefined) return;
    event.preventDefault();
    const row = pages.row(index);
    if (!row) return;
    show(index);
    onMove(row);
  };
}

/** The start of the tenant's day, updated at midnight. */
function useDayStart(): number {
  const { timeZone } = useTenant();
  const [dayStart, setDayStart] = useState(() => dayStartIn(timeZone));
  useEffect(() => {
    const timer = setInterval(() => setDayStart(dayStartIn(timeZone)), 30_000);
    return () => clearInterval(timer);
  }, [timeZone]);
  return dayStart;
}

const dayStartIn = (timeZone: string) =>
  fromDateTimeField(`${toDateTimeField(Date.now(), timeZone).slice(0, 10)}T00:00`, timeZone) ?? 0;

interface FrameProps extends GridProps {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly layout: RowLayout;
  /** With the header row; -1 while it is unknown. */
  readonly rowCount: number;
  readonly activeIndex: number;
  /** The rows to draw. */
  readonly items: readonly { readonly index: number; readonly start: number }[];
  readonly height: number;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly isOld?: boolean;
  /** Below the rows. */
  readonly children: ReactNode;
}

/** The frame of a list of notifications: its header, and the visible rows. */
export function GridFrame(props: FrameProps) {
  const { pages, layout, items, activeId, activeIndex } = props;
  const dayStart = useDayStart();
  const isShown = items.some(({ index }) => index === activeIndex);
  return (
    <ListFrame
      scroller={props.scroller}
      list={pages}
      isOld={props.isOld}
      height={props.height}
      head={<GridHead layout={layout} />}
      below={props.children}
      role="grid"
      aria-label={props.label}
      aria-rowcount={props.rowCount}
      aria-activedescendant={isShown && activeId !== undefined ? rowId(activeId) : undefined}
      onKeyDown={props.onKeyDown}
      onClick={(event) => {
        const notification = pages.row(rowAt(event));
        if (notification) props.onOpen(notification);
      }}
    >
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
    </ListFrame>
  );
}

/** The index of the clicked row; -1 when there is none, or when text was selected. */
function rowAt(event: MouseEvent): number {
  if (selectsText(event)) return -1;
  const row = (event.target as Element).closest('[role="row"]');
  // The header is the first row.
  return Number(row?.getAttribute('aria-rowindex') ?? 1) - 2;
}

const all = ['time', 'level', 'notification', 'host', 'ip', 'sourceIp', 'panels'] as const;
const columns = {
  roomy: all,
  wide: all,
  narrow: ['time', 'level', 'notification', 'host', 'panels'],
  card: ['level', 'notification'],
} as const;

/** The column headers; only for screen readers where rows are cards. */
function GridHead({ layout }: { layout: RowLayout }) {
  const { t } = useTranslation('history');
  return (
    <div role="rowgroup" className={layout === 'card' ? 'hidden' : styles.top}>
      <div
        role="row"
        aria-rowindex={1}
        className={`${shared.head} ${styles.head} ${layout === 'card' ? '' : styles[layout]}`}
      >
        {columns[layout].map((name) => (
          <div role="columnheader" key={name}>
            {t(`field.${name}`)}
          </div>
        ))}
      </div>
    </div>
  );
}
