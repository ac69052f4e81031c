import { Button } from '@mantine/core';
import styles from './undo.module.css';

/** What was done, and the way back. */
export function Undo({ message, label, onUndo }: { message: string; label: string; onUndo: () => void }) {
  return (
    <span className={styles.undo}>
      <span>{message}</span>
      <Button size="xs" onClick={onUndo}>
        {label}
      </Button>
    </span>
  );
}
