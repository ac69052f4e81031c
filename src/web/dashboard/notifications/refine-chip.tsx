import type { MouseEvent, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { type RefineKey, type Refinement, termOf } from '../query/refine.ts';
import styles from './refine-chip.module.css';

export type OnRefine = (refinement: Refinement) => void;

/** A value that narrows the search to itself when it is clicked; with Alt or Shift, to everything else. */
export function RefineChip({
  refineKey,
  value,
  children,
  onRefine,
  quiet = false,
  inRow = false,
}: {
  refineKey: RefineKey;
  value: string;
  children?: ReactNode;
  onRefine: OnRefine;
  quiet?: boolean;
  /** In a row, keys go to the row; what is open beside it has the same chips. */
  inRow?: boolean;
}) {
  const { t } = useTranslation('history');
  const refine = (event: MouseEvent) => {
    event.stopPropagation();
    onRefine({ key: refineKey, value, negated: event.altKey || event.shiftKey });
  };
  const term = termOf({ key: refineKey, value, negated: false });
  return (
    <button
      type="button"
      className={`${styles.chip} ${quiet ? styles.quiet : ''} ${inRow ? styles.inRow : ''}`}
      title={t('refineHint', { term: term.length > 80 ? `${term.slice(0, 80)}…` : term })}
      onClick={refine}
      {...(inRow && { tabIndex: -1 })}
    >
      {children ?? <bdi>{value}</bdi>}
    </button>
  );
}
