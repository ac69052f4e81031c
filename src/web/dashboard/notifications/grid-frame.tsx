/** The behaviour of lists of notifications. */
import arrowUpIcon from 'virtual:icon/arrow-up';
import {
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useRef,
  useState,
} from 'react';
import { useTranslation } from 'react-i18next';
import type { HistoryNotification } from '#contract/history/notification.ts';
import type { HistoryPages } from '../api/history-pages.ts';
import { useTenant } from '../api/tenant.tsx';
import { Icon } from '../components/icon.tsx';
import { useFormats } from '../formats/use-formats.tsx';
import { fromDateTimeField, toDateTimeField } from '../formats/wall-clock.ts';
import styles from './notification-grid.module.css';
import { NotificationRow, type OnRefine, type RowLayout, rowId } from './notification-row.tsx';

export interface GridProps {
  readonly label: string;
  readonly pages: HistoryPages;
  readonly activeId: string | undefined;
  readonly onOpen: (notification: HistoryNotification) => void;
  readonly onMove: (notification: HistoryNotification) => void;
  readonly onRefine: OnRefine;
}

export const rowHeightOf = (layout: RowLayout): number => (layout === 'card' ? 60 : 36);

/** The layout for the width. */
export function useLayout(element: RefObject<HTMLElement | null>): RowLayout {
  const [width, setWidth] = useState(() => innerWidth);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.round(entry.contentRect.width)));
    if (element.current) observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  if (width < 580) return 'card';
  if (width < 860) return 'narrow';
  return width < 1_100 ? 'wide' : 'roomy';
}

/** Arrows, Home, End and Page keys move the active row; Enter opens it. */
export function useGridKeys(
  { pages, activeId, onMove, onOpen }: Pick<GridProps, 'pages' | 'activeId' | 'onMove' | 'onOpen'>,
  count: number,
  activeIndex: number,
  show: (index: number) => void,
) {
  return (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const active = pages.row(activeIndex);
    if (event.key === 'Enter' && active && activeId !== undefined) {
      // Where the drawer gets the focus, the same key would click its Close button.
      event.preventDefault();
      return onOpen(active);
    }
    const steps: Record<string, number> = {
      ArrowDown: activeIndex + 1,
      ArrowUp: activeIndex - 1,
      PageDown: activeIndex + 12,
      PageUp: activeIndex - 12,
      Home: 0,
      End: count - 1,
    };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const index = Math.max(0, Math.min(count - 1, step));
    const row = pages.row(index);
    if (!row) return;
    show(index);
    onMove(row);
  };
}

/** A mouse at rest for so long is not about to click. */
const pointerRestMs = 5_000;

/** What is new waits while the mouse moves over the list, or it is scrolled down. */
export function usePointerHold(pages: Pick<HistoryPages, 'isHeld' | 'scrollTop' | 'insertWaitingWhenFree'>) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const place = useRef('');
  const release = () => {
    clearTimeout(timer.current);
    pages.isHeld = false;
    pages.insertWaitingWhenFree();
  };
  const hold = ({ pointerType, screenX, screenY }: PointerEvent) => {
    const now = `${screenX} ${screenY}`;
    // Rows that move under the pointer cause events too.
    if (pointerType !== 'mouse' || place.current === now) return;
    place.current = now;
    pages.isHeld = true;
    clearTimeout(timer.current);
    timer.current = setTimeout(release, pointerRestMs);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return {
    onScroll: (event: { currentTarget: HTMLElement }) => {
      pages.scrollTop = event.currentTarget.scrollTop;
      pages.insertWaitingWhenFree();
    },
    onPointerMove: hold,
    onPointerLeave: release,
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

/** The frame of a list of notifications: its header, the visible rows, and the banner for new ones. */
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
        {...usePointerHold(pages)}
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
      <NewItemsBanner pages={pages} scroller={props.scroller} />
    </div>
  );
}

/** The index of the clicked row; -1 when there is none, or when text was selected. */
function rowAt({ target, detail }: MouseEvent): number {
  if (detail === 1 && getSelection()?.type === 'Range') return -1;
  const row = (target as Element).closest('[role="row"]');
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
      <div role="row" aria-rowindex={1} className={`${styles.head} ${styles[layout]}`}>
        {columns[layout].map((name) => (
          <div role="columnheader" key={name}>
            {t(`field.${name}`)}
          </div>
        ))}
      </div>
    </div>
  );
}

const widths = [58, 44, 66, 52, 61, 40, 70, 48, 55, 63, 46, 59];

/** Placeholders until the first rows arrive. */
export function SkeletonRows() {
  return (
    <div aria-hidden="true">
      {widths.map((width) => (
        <div key={width} className={styles.skeleton}>
          <span style={{ width: 78 }} />
          <span style={{ width: 66 }} />
          <span style={{ width: `${width * 0.7}%` }} />
        </div>
      ))}
    </div>
  );
}

const announcementMs = 10_000;

/** How many new ones wait, and a button that shows them. */
export function NewItemsBanner({
  pages,
  scroller,
}: {
  pages: Pick<HistoryPages, 'waiting' | 'waitingMore' | 'scrollTop' | 'insertWaiting'>;
  scroller: RefObject<HTMLElement | null>;
}) {
  const { t } = useTranslation('history');
  const formats = useFormats();
  const { waiting, waitingMore } = pages;
  const announced = useThrottledAnnouncement(waiting);
  const show = () => {
    scroller.current?.scrollTo({ top: 0 });
    pages.scrollTop = 0;
    pages.insertWaiting();
    scroller.current?.focus();
  };
  return (
    <div className={styles.new}>
      <span role="status" className="hidden">
        {announced > 0 && t('newOnes', { count: announced, number: formats.number(announced) })}
      </span>
      {waiting > 0 && (
        <button type="button" onClick={show}>
          <Icon paths={arrowUpIcon} size={14} />
          {t('newOnes', { count: waiting, number: formats.number(waiting) + (waitingMore ? '+' : '') })}
        </button>
      )}
    </div>
  );
}

/** Follows `value` for screen readers, but changes at most once in ten seconds. */
function useThrottledAnnouncement(value: number): number {
  const [announced, setAnnounced] = useState(value);
  const announcedAt = useRef(0);
  useEffect(() => {
    if (announced === value) return;
    const waitMs = value === 0 ? 0 : Math.max(0, announcedAt.current + announcementMs - Date.now());
    const timer = setTimeout(() => {
      if (value > 0) announcedAt.current = Date.now();
      setAnnounced(value);
    }, waitMs);
    return () => clearTimeout(timer);
  }, [announced, value]);
  return announced;
}
