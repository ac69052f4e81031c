/** The behaviour of lists of notifications. */
import { type KeyboardEvent, type PointerEvent, type RefObject, useEffect, useRef, useState } from 'react';
import type { HistoryNotification } from '#contract/history/notification.ts';
import type { HistoryPages } from '../api/history-pages.ts';
import { useTenant } from '../api/tenant.tsx';
import { fromDateTimeField, toDateTimeField } from '../formats/wall-clock.ts';
import type { OnRefine, RowLayout } from './notification-row.tsx';

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

/** New notifications wait while the mouse moves over the list, or it is scrolled down. */
export function usePointerHold(pages: HistoryPages) {
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
export function useDayStart(): number {
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
