import { type MouseEvent, type PointerEvent, useRef } from 'react';

/** The side to which a finger pushes a row, also where text runs from right to left. */
export type Swipe = 'right' | 'left';

interface RowTouch {
  /** A finger pushed the row far enough. */
  onSwipe(line: number, way: Swipe): void;
  /** A finger rested on the row. */
  onHold(line: number): void;
}

const holdMs = 500;
/** A finger that moves less far rests. */
const slackPx = 10;
const swipePx = 80;

interface Touch {
  readonly row: HTMLElement;
  readonly x: number;
  readonly y: number;
  readonly timer: number;
  isSwipe: boolean;
}

/** What fingers do to rows: pushing one to a side, and resting on one. The click that follows is ignored. */
export function useRowTouch({ onSwipe, onHold }: RowTouch) {
  const touch = useRef<Touch>(undefined);
  const ignoresClick = useRef(false);
  const end = () => {
    const ended = touch.current;
    touch.current = undefined;
    if (!ended) return;
    clearTimeout(ended.timer);
    ended.row.style.removeProperty('--swipe');
  };
  return {
    onPointerDown({ pointerType, isPrimary, target, clientX: x, clientY: y }: PointerEvent) {
      end();
      ignoresClick.current = false;
      const row = (target as Element).closest<HTMLElement>('[data-line]');
      if (pointerType !== 'touch' || !isPrimary || !row) return;
      const rest = () => {
        ignoresClick.current = true;
        end();
        onHold(Number(row.dataset.line));
      };
      touch.current = { row, x, y, timer: window.setTimeout(rest, holdMs), isSwipe: false };
    },
    onPointerMoveCapture({ clientX, clientY }: PointerEvent) {
      const now = touch.current;
      if (!now) return;
      const [dx, dy] = [clientX - now.x, clientY - now.y];
      if (Math.abs(dx) > slackPx || Math.abs(dy) > slackPx) clearTimeout(now.timer);
      now.isSwipe ||= Math.abs(dx) > slackPx && Math.abs(dx) > 1.5 * Math.abs(dy);
      if (now.isSwipe) now.row.style.setProperty('--swipe', `${dx}px`);
    },
    onPointerUp({ clientX }: PointerEvent) {
      const now = touch.current;
      const dx = now ? clientX - now.x : 0;
      if (now?.isSwipe) ignoresClick.current = true;
      end();
      if (now?.isSwipe && Math.abs(dx) >= swipePx)
        onSwipe(Number(now.row.dataset.line), dx > 0 ? 'right' : 'left');
    },
    onPointerCancel: end,
    onClickCapture(event: MouseEvent) {
      if (ignoresClick.current) event.stopPropagation();
      ignoresClick.current = false;
    },
    /** A long touch selects, and opens no menu of the browser. */
    onContextMenu(event: MouseEvent) {
      if (touch.current || ignoresClick.current) event.preventDefault();
    },
  };
}
