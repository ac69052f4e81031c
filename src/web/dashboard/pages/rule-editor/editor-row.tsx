import removeIcon from 'virtual:icon/x';
import { ActionIcon } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon } from '#web/dashboard/components/icon.tsx';
import styles from './editor.module.css';
import type { FieldProblem } from './rule-problem.ts';

/** A part of the rule's sentence, with its error below. */
export function EditorRow({
  lead,
  problem,
  removeLabel,
  onRemove,
  children,
}: {
  lead: string;
  problem?: FieldProblem | undefined;
  removeLabel?: string;
  onRemove?: () => void;
  children: ReactNode;
}) {
  return (
    <div className={styles.row}>
      <span className={styles.lead}>{lead}</span>
      <div>
        <div className={styles.chip} data-wrong={problem !== undefined || undefined}>
          {children}
          {onRemove && (
            <ActionIcon size="sm" className={styles.remove ?? ''} aria-label={removeLabel} onClick={onRemove}>
              <Icon paths={removeIcon} size={14} />
            </ActionIcon>
          )}
        </div>
        <ProblemText problem={problem} />
      </div>
    </div>
  );
}

export function ProblemText({ problem }: { problem: FieldProblem | undefined }) {
  return (
    problem && (
      <p className={styles.problem} id={problem.id} role="alert">
        {problem.text}
      </p>
    )
  );
}
