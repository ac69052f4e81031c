/** What the lists of notifications and of alarms have in common: the frame, keys, new rows that wait, and the form of a card. */
import arrowUpIcon from 'virtual:icon/arrow-up';
import {
  type CSSProperties,
  type HTMLAttributes,
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
import type { HistoryPages } from '../api/history-pages.ts';
import { Icon } from '../components/icon.tsx';
import { LevelMark } from '../components/level-mark.tsx';
import { useFormats } from '../formats/use-formats.tsx';
import styles from './list-frame.module.css';

/** A list in which new rows wait behind a button. */
type WaitingList = Pick<
  HistoryPages,
  'waiting' | 'waitingMore' | 'scrollTop' | 'isHeld' | 'insertWaiting' | 'insertWaitingWhenFree'
>;

interface ListFrameProps extends HTMLAttributes<HTMLDivElement> {
  readonly role: 'grid' | 'treegrid';
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly list: WaitingList;
  /** The rows are of the previous search. */
  readonly isOld?: boolean | undefined;
  /** Of all rows. */
  readonly height: number;
  readonly head: ReactNode;
  /** The rows to draw. */
  readonly children: ReactNode;
  readonly below: ReactNode;
  /** Of the frame. */
  readonly frameStyle?: CSSProperties;
}

/**
 * A list that scrolls, with its names of columns, the visible rows, and the button for new ones. All else is of the element that
 * scrolls.
 */
export function ListFrame({
  role,
  scroller,
  list,
  isOld = false,
  height,
  head,
  children,
  below,
  frameStyle,
  className = '',
  ...scrolled
}: ListFrameProps) {
  return (
    <div className={styles.frame} style={frameStyle}>
      <div
        ref={scroller}
        role={role}
        tabIndex={0}
        aria-busy={isOld}
        className={`${styles.scroller} ${isOld ? styles.old : ''} ${className}`}
        {...usePointerHold(list)}
        {...scrolled}
      >
        {head}
        <div role="rowgroup" style={{ height }} className={styles.rows}>
          {children}
        </div>
        {below}
      </div>
      <NewItemsBanner list={list} scroller={scroller} />
    </div>
  );
}

export type RowLayout = 'roomy' | 'wide' | 'narrow' | 'card';

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

const pageRows = 12;

/** Whether a key was pressed in the list itself, without Ctrl and the like. */
export const isListKey = (event: KeyboardEvent): boolean =>
  event.target === event.currentTarget && !event.ctrlKey && !event.metaKey && !event.altKey;

/** Whether a click ends the selection of text. */
export const selectsText = ({ detail }: MouseEvent): boolean =>
  detail === 1 && getSelection()?.type === 'Range';

/** The index of the row that a key leads to; undefined for other keys. */
export function stepTo(key: string, from: number, count: number): number | undefined {
  const steps: Record<string, number> = {
    ArrowDown: from + 1,
    ArrowUp: from - 1,
    PageDown: from + pageRows,
    PageUp: from - pageRows,
    Home: 0,
    End: count - 1,
  };
  const step = steps[key];
  return step === undefined ? undefined : Math.max(0, Math.min(count - 1, step));
}

/** The cells of a row on a narrow screen, in two lines. */
export function CardCells({
  level,
  title,
  time,
  children,
}: {
  level: string;
  title: ReactNode;
  time: ReactNode;
  /** The second line: a text, and a word at its end. */
  children: ReactNode;
}) {
  return (
    <>
      <div role="gridcell" className={styles.cardIcon}>
        <LevelMark name={level} iconOnly />
      </div>
      <div role="gridcell" className={styles.cardBody}>
        <div className={styles.cardLine}>
          {title}
          <span className={styles.quiet}>{time}</span>
        </div>
        <div className={`${styles.cardLine} ${styles.quiet}`}>{children}</div>
      </div>
    </>
  );
}

/** A mouse at rest for so long is not about to click. */
const pointerRestMs = 5_000;

/** What is new waits while the mouse moves over the list, or it is scrolled down. */
function usePointerHold(list: WaitingList) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const place = useRef('');
  const release = () => {
    clearTimeout(timer.current);
    list.isHeld = false;
    list.insertWaitingWhenFree();
  };
  const hold = ({ pointerType, screenX, screenY }: PointerEvent) => {
    const now = `${screenX} ${screenY}`;
    // Rows that move under the pointer cause events too.
    if (pointerType !== 'mouse' || place.current === now) return;
    place.current = now;
    list.isHeld = true;
    clearTimeout(timer.current);
    timer.current = setTimeout(release, pointerRestMs);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return {
    onScroll: (event: { currentTarget: HTMLElement }) => {
      list.scrollTop = event.currentTarget.scrollTop;
      list.insertWaitingWhenFree();
    },
    onPointerMove: hold,
    onPointerLeave: release,
  };
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
function NewItemsBanner({ list, scroller }: { list: WaitingList; scroller: RefObject<HTMLElement | null> }) {
  const { t } = useTranslation('history');
  const formats = useFormats();
  const { waiting, waitingMore } = list;
  const announced = useThrottledAnnouncement(waiting);
  const show = () => {
    scroller.current?.scrollTo({ top: 0 });
    list.scrollTop = 0;
    list.insertWaiting();
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
