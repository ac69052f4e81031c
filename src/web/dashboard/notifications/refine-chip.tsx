import excludeIcon from 'virtual:icon/circle-minus';
import type { MouseEvent, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from '../pieces/icon.tsx';
import { type RefineKey, type Refinement, termOf } from '../query/refine.ts';
import styles from './refine-chip.module.css';

export type OnRefine = (refinement: Refinement) => void;

/**
 * A value that narrows the search to itself when it is clicked; with Alt or Shift, to everything else. Beside it, where
 * there is room, a button does the same for those who have no such keys.
 */
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
  const refine = (event: MouseEvent, negated: boolean) => {
    event.stopPropagation();
    onRefine({ key: refineKey, value, negated });
  };
  const term = clip(termOf({ key: refineKey, value, negated: false }));
  const chip = (
    <button
      type="button"
      className={`${styles.chip} ${quiet ? styles.quiet : ''} ${inRow ? styles.inRow : ''}`}
      title={t('refineHint', { term })}
      onClick={(event) => refine(event, event.altKey || event.shiftKey)}
      {...(inRow && { tabIndex: -1 })}
    >
      {children ?? <bdi>{value}</bdi>}
    </button>
  );
  if (inRow) return chip;
  return (
    <>
      {chip}
      <button
        type="button"
        className={styles.exclude}
        aria-label={t('exclude', { term })}
        title={t('exclude', { term })}
        onClick={(event) => refine(event, true)}
      >
        <Icon paths={excludeIcon} size={14} />
      </button>
    </>
  );
}

const clip = (term: string) => (term.length > 80 ? `${term.slice(0, 80)}…` : term);
