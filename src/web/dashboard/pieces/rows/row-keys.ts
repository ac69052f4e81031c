/** Arrows in lists. What a row is opened with bears `data-row`; the arrows move the focus from one to the next. */
import { type KeyboardEvent, type RefObject, useRef } from 'react';
import { useShortcuts } from '#web/dashboard/shell/shortcuts.ts';

const steps: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowDown: (at, last) => Math.min(at + 1, last),
  ArrowUp: (at) => Math.max(at - 1, 0),
  Home: () => 0,
  End: (_, last) => last,
};

/** For the element around the rows: `onKeyDown` while the focus is within, and the down arrow while nothing has the focus. */
export function useRowKeys<E extends HTMLElement>(): {
  readonly ref: RefObject<E | null>;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  /** Goes to the first row. */
  readonly enter: () => void;
} {
  const ref = useRef<E>(null);
  const rows = () => [...(ref.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
  const enter = () => rows()[0]?.focus();
  useShortcuts({ ArrowDown: enter });
  return {
    ref,
    enter,
    onKeyDown(event) {
      const step = steps[event.key];
      const all = rows();
      const at = all.indexOf(event.target as HTMLElement);
      if (!step || at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      all[step(at, all.length - 1)]?.focus();
    },
  };
}
