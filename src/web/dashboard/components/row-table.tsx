/** Tables of lists: filtered, walked through by the arrow keys; a row opens its drawer. */
import searchIcon from 'virtual:icon/search';
import { Button, Kbd, TextInput } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import {
  createContext,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useContext,
  useRef,
  useState,
} from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from './icon.tsx';
import { useShortcuts } from './keyboard.ts';
import { ErrorNotice } from './notice.tsx';
import styles from './row-table.module.css';

/** A class also hides a column where there is no room for it. */
export type Column<Row> = readonly [
  title: ReactNode,
  cell: (row: Row) => ReactNode,
  className?: string | undefined,
  tooltip?: (row: Row) => string | null,
];

interface TableProps<Row> {
  readonly caption: string;
  readonly keyOf: (row: Row) => string;
  readonly onOpen: (key: string) => void;
  /** One of them has a {@link RowButton}. */
  readonly columns: readonly Column<Row>[];
  /** Rows that fail this are hidden, whatever the filter. */
  readonly where?: (row: Row) => boolean;
  readonly filter?: {
    readonly label: string;
    readonly textsOf: (row: Row) => readonly (string | null)[];
    readonly noneMatch: string;
  };
  /** Beside the filter. */
  readonly tools?: ReactNode;
  /** The keys that work here beside those of every table. */
  readonly keys?: readonly (string | false)[];
  readonly className?: string | undefined;
  readonly rowClassOf?: (row: Row) => string | undefined;
}

/** Shows the error of a list that cannot be read, `empty` in place of an empty one, and placeholders until it is read. */
export function RowTable<Row>({
  query: { data, error, refetch },
  empty,
  ...table
}: TableProps<Row> & {
  readonly query: Pick<UseQueryResult<readonly Row[]>, 'data'> &
    Partial<Pick<UseQueryResult, 'error' | 'refetch'>>;
  readonly empty?: ReactNode;
}) {
  if (error && !data) return <ErrorNotice error={error} onRetry={() => void refetch?.()} />;
  return data?.length === 0 && empty !== undefined ? empty : <Table {...table} rows={data} />;
}

/** Thousands of rows would make the page slow. */
const pageRows = 200;

function Table<Row>(props: TableProps<Row> & { readonly rows: readonly Row[] | undefined }) {
  const { rows, keyOf, onOpen, columns, where = () => true, filter, keys = [] } = props;
  const { t } = useTranslation();
  const [typed, setTyped] = useState('');
  const [most, setMost] = useState(pageRows);
  const table = useRef<HTMLTableElement>(null);
  const enter = () => rowsOf(table.current)[0]?.focus();
  useShortcuts({ ArrowDown: enter });
  const wanted = typed.trim().toLowerCase();
  const isFound = (row: Row) =>
    wanted === '' || filter?.textsOf(row).some((text) => text?.toLowerCase().includes(wanted));
  const found = rows?.filter((row) => where(row) && isFound(row));
  return (
    <>
      {filter && (
        <div className={styles.tools}>
          <FilterField label={filter.label} value={typed} onChange={setTyped} onEnterList={enter} />
          {props.tools}
        </div>
      )}
      <table
        className={`table ${styles.table} ${props.className ?? ''}`}
        ref={table}
        onKeyDown={(event) => moveFocus(event, rowsOf(table.current))}
      >
        <caption className="hidden">{props.caption}</caption>
        <thead>
          <tr>
            {columns.map(([title, , className], index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a column is known by its place.
              <th key={index} className={className}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {found?.slice(0, most).map((row) => (
            <OpeningRow
              key={keyOf(row)}
              onOpen={() => onOpen(keyOf(row))}
              className={props.rowClassOf?.(row)}
            >
              {columns.map(([, cell, className, tooltip], index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a column is known by its place.
                <td key={index} className={className} title={tooltip?.(row) ?? undefined}>
                  {cell(row)}
                </td>
              ))}
            </OpeningRow>
          ))}
        </tbody>
      </table>
      {!rows && <WaitingRows />}
      {found?.length === 0 && filter && <p className={styles.nothing}>{filter.noneMatch}</p>}
      {found && found.length > most && (
        <Button mt="sm" onClick={() => setMost(most + pageRows)}>
          {t('showMore', { count: found.length - most })}
        </Button>
      )}
      {rows && (
        <p className={styles.hint} aria-hidden="true">
          {[t('keys.rows'), filter && t('keys.filter'), ...keys].filter(Boolean).join(' · ')}
        </p>
      )}
    </>
  );
}

/** Where rows will be. */
export function WaitingRows() {
  const { t } = useTranslation();
  return (
    <div role="status" aria-label={t('loading')}>
      {[1, 2, 3, 4].map((row) => (
        <div key={row} className={styles.waiting} />
      ))}
    </div>
  );
}

const Open = createContext<() => void>(() => undefined);

/** A click opens it, except on its controls; so does its {@link RowButton}. */
function OpeningRow({
  onOpen,
  className = '',
  children,
}: {
  onOpen: () => void;
  className?: string | undefined;
  children: ReactNode;
}) {
  return (
    <Open value={onOpen}>
      <tr className={`${styles.row} ${className}`} onClick={(event) => isOnRow(event) && onOpen()}>
        {children}
      </tr>
    </Open>
  );
}

/** A row's name, which gets the focus. */
export function RowButton({
  name,
  onKeyDown,
  children,
}: {
  name?: string;
  onKeyDown?: (event: KeyboardEvent) => void;
  children?: ReactNode;
}) {
  return (
    <button type="button" data-row className={styles.open} onClick={useContext(Open)} onKeyDown={onKeyDown}>
      {name !== undefined && (
        <strong>
          <bdi>{name}</bdi>
        </strong>
      )}
      {name !== undefined && children && ' '}
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

const rowsOf = (table: HTMLElement | null) => [...(table?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];

const steps: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowDown: (at, last) => Math.min(at + 1, last),
  ArrowUp: (at) => Math.max(at - 1, 0),
  Home: () => 0,
  End: (_, last) => last,
};

function moveFocus(event: KeyboardEvent, rows: readonly HTMLElement[]): void {
  const step = steps[event.key];
  const at = rows.indexOf(event.target as HTMLElement);
  if (!step || at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  rows[step(at, rows.length - 1)]?.focus();
}

/** Filters a list; `/` focuses it, the down arrow enters the list, Esc clears it. */
function FilterField({
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
      rightSection={
        value === '' && (
          <Kbd size="xs" className={styles.key}>
            /
          </Kbd>
        )
      }
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
