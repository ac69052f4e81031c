import { useEffect, useRef } from 'react';
import type { HistoryPages } from './history-pages.ts';
import { type TailState, useTail } from './tail.ts';

/** Panels confirm what they show within moments: what came is read again then, with their receipts. */
const settleMs = 2_500;

/** Lets new ones into a list as they arrive, or has them wait while somebody reads. */
export function useLivePages(pages: HistoryPages, q: string, enabled: boolean): TailState {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  return useTail(q, enabled, {
    onArrived: (rows) => {
      pages.add(rows, pages.isFree);
      timer.current ??= setTimeout(() => {
        timer.current = undefined;
        void pages.refresh(pages.isFree);
      }, settleMs);
    },
    onGap: () => void pages.refresh(pages.isFree),
  });
}
