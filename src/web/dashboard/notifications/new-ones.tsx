import arrowUpIcon from 'virtual:icon/arrow-up';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { HistoryPages } from '../api/history-pages.ts';
import { useFormats } from '../pieces/formats.ts';
import { Icon } from '../pieces/icon.tsx';
import styles from './notification-grid.module.css';

const calmMs = 10_000;

/** How many wait while the list is being read, and the way to them. */
export function NewOnes({
  pages,
  scroller,
}: {
  pages: HistoryPages;
  scroller: RefObject<HTMLElement | null>;
}) {
  const { t } = useTranslation('history');
  const formats = useFormats();
  const { waiting, waitingMore } = pages;
  const calm = useCalm(waiting);
  const show = () => {
    scroller.current?.scrollTo({ top: 0 });
    pages.scrollTop = 0;
    pages.letIn();
    scroller.current?.focus();
  };
  return (
    <div className={styles.new}>
      <span role="status" className="hidden">
        {calm > 0 && t('newOnes', { count: calm, number: formats.number(calm) })}
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

/** The number as it is said aloud: no oftener than one can listen. */
function useCalm(value: number): number {
  const [said, setSaid] = useState(value);
  const saidAt = useRef(0);
  useEffect(() => {
    if (said === value) return;
    const waitMs = value === 0 ? 0 : Math.max(0, saidAt.current + calmMs - Date.now());
    const timer = setTimeout(() => {
      if (value > 0) saidAt.current = Date.now();
      setSaid(value);
    }, waitMs);
    return () => clearTimeout(timer);
  }, [said, value]);
  return said;
}
