/** Alarms as the lines of a list: groups that are open or closed, with their alarms, and alarms that stand alone. */
import { findLabel, labelPair } from '#contract/history/labels.ts';
import { commonTitle, kindOf } from '#contract/history/similar.ts';
import type { AlarmRow } from '#web/dashboard/api/alarm-list.ts';

/** `similar`, `host`, `none`, or a label, as in `label:site`. */
export type Grouping = string;
export const labelGrouping = (name: string): Grouping => `label:${name}`;

export interface AlarmGroup {
  readonly key: string;
  /** What its alarms have in common; '' for those without the label or host. */
  readonly title: string;
  /** In the order of the list: the first has the highest level. */
  readonly rows: readonly AlarmRow[];
}

export type ListLine =
  | { readonly key: string; readonly group: AlarmGroup; readonly isOpen: boolean }
  | { readonly key: string; readonly row: AlarmRow; readonly isInGroup: boolean };

/** Titles are compared once: most are the same when the list is read again. */
const kinds = new Map<string, string>();
const mostKinds = 20_000;

function kindOfRow({ alarm: { title, host, ip } }: AlarmRow): string {
  const known = JSON.stringify([title, host, ip]);
  let kind = kinds.get(known);
  if (kind === undefined) {
    if (kinds.size >= mostKinds) kinds.clear();
    kind = kindOf({ title, host, ip });
    kinds.set(known, kind);
  }
  return kind;
}

/** By what a row is grouped; undefined: it stands alone. */
function groupKeyOf(row: AlarmRow, grouping: Grouping): string | undefined {
  if (grouping === 'similar') return kindOfRow(row);
  if (grouping === 'host') return row.alarm.host ?? '';
  if (!grouping.startsWith('label:')) return undefined;
  return findLabel(row.alarm.labels, grouping.slice('label:'.length))?.[1] ?? '';
}

function titleOf(key: string, rows: readonly AlarmRow[], grouping: Grouping): string {
  if (grouping === 'host' || key === '') return key;
  if (grouping === 'similar') return rows[0] ? commonTitle(rows[0].alarm) : '';
  return labelPair(grouping.slice('label:'.length), key);
}

/** The lines of the list. A similar alarm without another one stands alone; groups of hosts and labels are shown also with one. */
export function linesOf(
  rows: readonly AlarmRow[],
  grouping: Grouping,
  open: ReadonlySet<string>,
): readonly ListLine[] {
  const groups = new Map<string, AlarmRow[]>();
  for (const row of rows) {
    const key = groupKeyOf(row, grouping);
    if (key === undefined) continue;
    const known = groups.get(key);
    if (known) known.push(row);
    else groups.set(key, [row]);
  }
  return rows.flatMap((row): readonly ListLine[] => {
    const key = groupKeyOf(row, grouping);
    const members = key === undefined ? undefined : groups.get(key);
    if (key === undefined || !members || (grouping === 'similar' && members.length < 2))
      return [{ key: row.key, row, isInGroup: false }];
    if (members[0] !== row) return [];
    const lineKey = `group ${key}`;
    const isOpen = open.has(lineKey);
    const group = { key: lineKey, title: titleOf(key, members, grouping), rows: members };
    const inside = isOpen ? members.map((each) => ({ key: each.key, row: each, isInGroup: true })) : [];
    return [{ key: lineKey, group, isOpen }, ...inside];
  });
}

/** The alarms of a line: one, or all of a group. */
export const rowsOf = (line: ListLine): readonly AlarmRow[] =>
  'group' in line ? line.group.rows : [line.row];

/** The alarms from one line to another, both included. */
export function rowsBetween(lines: readonly ListLine[], from: number, to: number): readonly AlarmRow[] {
  return lines.slice(Math.min(from, to), Math.max(from, to) + 1).flatMap(rowsOf);
}

/** What a group says in its columns. */
export function summaryOf({ rows, title }: AlarmGroup) {
  const hosts = [...new Set(rows.flatMap(({ alarm }) => alarm.host ?? []))].sort((a, b) =>
    a.localeCompare(b, undefined, { numeric: true }),
  );
  const [first] = rows;
  const labels = Object.entries(first?.alarm.labels ?? {}).filter(
    ([name, value]) =>
      labelPair(name, value) !== title && rows.every(({ alarm }) => alarm.labels[name] === value),
  );
  return {
    hosts,
    labels: Object.fromEntries(labels),
    /** When the first of them comes back from the shelf; undefined when not all are on it. */
    shelvedUntil: rows.every(({ alarm }) => alarm.shelved !== null)
      ? rows.map(({ alarm }) => alarm.shelved?.until ?? '').sort()[0]
      : undefined,
    /** The alarms by which they are suppressed, one of each title: a cause that repeats has another id. Empty unless all are. */
    causes: rows.every(({ alarm }) => alarm.suppressedBy !== null)
      ? [...new Map(rows.flatMap(({ alarm: { suppressedBy: by } }) => (by ? [[by.title, by]] : []))).values()]
      : [],
    owners: [...new Set(rows.flatMap(({ alarm }) => alarm.owner?.name ?? []))],
    /** How many have an owner. */
    owned: rows.filter(({ alarm }) => alarm.owner !== null).length,
    acknowledged: rows.filter(({ alarm }) => alarm.acknowledged !== null).length,
    acknowledgedBy: [...new Set(rows.flatMap(({ alarm }) => alarm.acknowledged?.by ?? []))],
    /** The oldest. */
    since: rows.reduce(
      (since, { alarm }) => (alarm.since < since ? alarm.since : since),
      first?.alarm.since ?? '',
    ),
  };
}

/** The names of labels that the alarms have, the most frequent first. */
export function labelNamesOf(rows: readonly AlarmRow[]): readonly string[] {
  const counts = new Map<string, { readonly name: string; readonly count: number }>();
  for (const { alarm } of rows)
    for (const given of Object.keys(alarm.labels)) {
      const { name, count } = counts.get(given.toLowerCase()) ?? { name: given, count: 0 };
      counts.set(given.toLowerCase(), { name, count: count + 1 });
    }
  return [...counts.values()]
    .sort((a, b) => b.count - a.count || a.name.localeCompare(b.name))
    .map(({ name }) => name);
}
