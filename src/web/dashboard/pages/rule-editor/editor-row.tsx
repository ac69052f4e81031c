import removeIcon from 'virtual:icon/x';
import { ActionIcon } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon } from '#web/dashboard/components/icon.tsx';
import styles from './editor.module.css';
import type { Fault } from './rule-problem.ts';

/** A part of the sentence: the word that leads into it, what it says, and below it what is wrong with it. */
export function EditorRow({
  lead,
  fault,
  removeLabel,
  onRemove,
  children,
}: {
  lead: string;
  fault?: Fault | undefined;
  removeLabel?: string;
  onRemove?: () => void;
  children: ReactNode;
}) {
  return (
    <div className={styles.row}>
      <span className={styles.lead}>{lead}</span>
      <div>
        <div className={styles.chip} data-wrong={fault !== undefined || undefined}>
          {children}
          {onRemove && (
            <ActionIcon size="sm" className={styles.remove ?? ''} aria-label={removeLabel} onClick={onRemove}>
              <Icon paths={removeIcon} size={14} />
            </ActionIcon>
          )}
        </div>
        <FaultText fault={fault} />
      </div>
    </div>
  );
}

export function FaultText({ fault }: { fault: Fault | undefined }) {
  return (
    fault && (
      <p className={styles.fault} id={fault.id} role="alert">
        {fault.text}
      </p>
    )
  );
}
