import type { KeyboardEvent, MouseEvent, ReactNode, Ref } from 'react';
import type { useRowKeys } from './row-keys.ts';
import styles from './row-table.module.css';

/** A table whose rows open what they are about. */
export function RowTable({
  rows,
  caption,
  head,
  className = '',
  isWaiting,
  nothing,
  hint,
  children,
}: {
  rows: ReturnType<typeof useRowKeys<HTMLTableElement>>;
  caption: string;
  /** The <th>s. */
  head: ReactNode;
  className?: string | undefined;
  /** Lines stand where rows will be. */
  isWaiting: boolean;
  /** Said in place of rows. */
  nothing?: string | false | undefined;
  /** Which keys work here. */
  hint: string;
  children: ReactNode;
}) {
  return (
    <>
      <table className={`table ${styles.table} ${className}`} ref={rows.ref} onKeyDown={rows.onKeyDown}>
        <caption className="hidden">{caption}</caption>
        <thead>
          <tr>{head}</tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
      {isWaiting && [1, 2, 3, 4].map((row) => <div key={row} className={styles.waiting} />)}
      {nothing && <p className={styles.nothing}>{nothing}</p>}
      <p className={styles.hint} aria-hidden="true">
        {hint}
      </p>
    </>
  );
}

/** Opens by a click anywhere that is nothing else, and by the {@link RowButton} in it. */
export function OpeningRow({
  onOpen,
  className = '',
  children,
  ref,
}: {
  onOpen: () => void;
  className?: string | undefined;
  children: ReactNode;
  ref?: Ref<HTMLTableRowElement>;
}) {
  return (
    <tr ref={ref} className={`${styles.row} ${className}`} onClick={(event) => isOnRow(event) && onOpen()}>
      {children}
    </tr>
  );
}

/** What names a row, and has its focus. */
export function RowButton({
  onOpen,
  onKeyDown,
  children,
}: {
  onOpen: () => void;
  onKeyDown?: (event: KeyboardEvent) => void;
  children: ReactNode;
}) {
  return (
    <button type="button" data-row className={styles.open} onClick={onOpen} onKeyDown={onKeyDown}>
      {children}
    </button>
  );
}

/** Not on one of the row's own controls, nor in a menu that is drawn elsewhere, nor at the end of marking text. */
export function isOnRow(event: MouseEvent<HTMLElement>): boolean {
  const target = event.target as HTMLElement;
  if (!event.currentTarget.contains(target) || target.closest('a, button, input, label')) return false;
  return getSelection()?.isCollapsed !== false;
}
