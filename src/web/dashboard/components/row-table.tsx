import searchIcon from 'virtual:icon/search';
import { Kbd, TextInput } from '@mantine/core';
import { type KeyboardEvent, type MouseEvent, type ReactNode, type Ref, type RefObject, useRef } from 'react';
import { useShortcuts } from '../shell/shortcuts.ts';
import { Icon } from './icon.tsx';
import styles from './row-table.module.css';

/** A table whose rows open a drawer. */
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
  /** Draws placeholders for the rows. */
  isWaiting: boolean;
  /** Shown in place of rows. */
  nothing?: string | false | undefined;
  /** The keys that work here. */
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

/** A click opens it, except on its controls; so does its {@link RowButton}. */
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

/** A row's name, which gets the focus. */
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

/** False on the row's controls, in a menu drawn elsewhere, and after selecting text. */
export function isOnRow(event: MouseEvent<HTMLElement>): boolean {
  const target = event.target as HTMLElement;
  if (!event.currentTarget.contains(target) || target.closest('a, button, input, label')) return false;
  return getSelection()?.isCollapsed !== false;
}

const steps: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowDown: (at, last) => Math.min(at + 1, last),
  ArrowUp: (at) => Math.max(at - 1, 0),
  Home: () => 0,
  End: (_, last) => last,
};

/** Arrow keys between rows, which have `data-row`. The down arrow enters the list when nothing has the focus. */
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

/** Filters a list; `/` focuses it, the down arrow enters the list, Esc clears it. */
export function FilterField({
  label,
  value,
  onChange,
  onEnterList,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  onEnterList: () => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  useShortcuts({ '/': () => input.current?.focus() });
  return (
    <TextInput
      ref={input}
      className={styles.field}
      type="search"
      aria-label={label}
      placeholder={label}
      value={value}
      leftSection={<Icon paths={searchIcon} />}
      rightSection={value === '' && <Kbd size="xs">/</Kbd>}
      rightSectionPointerEvents="none"
      onChange={(event) => onChange(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'ArrowDown') {
          event.preventDefault();
          onEnterList();
        }
        if (event.key === 'Escape') {
          event.preventDefault();
          onChange('');
          input.current?.blur();
        }
      }}
    />
  );
}
