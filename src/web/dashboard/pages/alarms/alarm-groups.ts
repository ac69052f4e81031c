/** Alarms as the lines of a list: groups that are open or closed, with their alarms, and alarms that stand alone. */
import type { Alarm } from '#contract/history/alarm.ts';
import {
  isLabelField,
  type LabelField,
  labelOfField,
  labelPair,
  labelStart,
} from '#contract/history/labels.ts';
import { commonTitle, type Grouped, groupedValue, kindHeading, kindOf } from '#contract/history/similar.ts';
import type { AlarmRow } from '#web/dashboard/api/alarm-list.ts';

/** `similar`, `host`, `none`, or a label, as in `label:site`. */
export type Grouping = string;
export const labelGrouping = (name: string): Grouping => `label:${name}`;

export interface AlarmGroup {
  readonly key: string;
  /** What its alarms have in common; '' for those without the label or host. */
  readonly title: string;
  /** In the order of the list. */
  readonly rows: readonly AlarmRow[];
}

export type ListLine =
  | { readonly key: string; readonly group: AlarmGroup; readonly isOpen: boolean }
  | { readonly key: string; readonly row: AlarmRow; readonly isInGroup: boolean };

/** Alarms are compared once: most are the same when the list is read again. */
const kinds = new Map<string, string>();
const mostKinds = 20_000;

function knownKindOf(given: Grouped): string {
  const known = JSON.stringify(given);
  let kind = kinds.get(known);
  if (kind === undefined) {
    if (kinds.size >= mostKinds) kinds.clear();
    kind = kindOf(given);
    kinds.set(known, kind);
  }
  return kind;
}

/** Equal for alarms that a wall shows on one card, too. */
const kindOfAlarm = ({ title, host, ip, group, level, key, labels }: Alarm): string =>
  knownKindOf({ title, host, ip, ...(group && { group, level, key, labels }) });

/** By what a row is grouped; undefined: it stands alone. As in searches, upper and lower case are the same. */
function groupKeyOf({ alarm }: AlarmRow, grouping: Grouping): string | undefined {
  if (grouping === 'similar') return kindOfAlarm(alarm);
  if (grouping === 'host') return alarm.host?.toLowerCase() ?? '';
  if (!isLabelField(grouping)) return undefined;
  return labelValueOf(alarm, grouping).toLowerCase();
}

function labelValueOf(alarm: Alarm, field: LabelField): string {
  const pair = groupedValue(alarm, field);
  return pair === null ? '' : pair.slice(labelStart(pair).length);
}

/** As the first of its alarms spells it. */
function titleOf(key: string, [first]: readonly AlarmRow[], grouping: Grouping): string {
  if (!first || key === '') return key;
  if (grouping === 'host') return first.alarm.host ?? '';
  return isLabelField(grouping) ? labelPair(labelOfField(grouping), labelValueOf(first.alarm, grouping)) : '';
}

/** The word that people read for a level. */
type WordOf = (level: string) => string;

/** Of similar alarms: the common title of each that differs. One, unless their rule groups them by something else. */
function headingOf(rows: readonly AlarmRow[], wordOf?: WordOf): string {
  const [first] = rows;
  if (!first) return '';
  if (!first.alarm.group) return commonTitle(first.alarm);
  const titles = new Map(
    rows.map(({ alarm }) => {
      const { title, host, ip } = alarm;
      return [knownKindOf({ title, host, ip }), alarm];
    }),
  );
  return kindHeading([...titles.values()].map(commonTitle), first.alarm, wordOf);
}

/** The lines of the list. A similar alarm without another one stands alone; groups of hosts and labels are shown also with one. */
export function linesOf(
  rows: readonly AlarmRow[],
  grouping: Grouping,
  open: ReadonlySet<string>,
  wordOf?: WordOf,
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
    const group = {
      key: lineKey,
      title: grouping === 'similar' ? headingOf(members, wordOf) : titleOf(key, members, grouping),
      rows: members,
    };
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
      labelPair(name, value).toLowerCase() !== title.toLowerCase() &&
      rows.every(({ alarm }) => alarm.labels[name] === value),
  );
  const highest = rows.reduce(
    (high, row) => (row.alarm.rank > high.alarm.rank ? row : high),
    rows[0] as AlarmRow,
  );
  return {
    /** The highest of them: open alarms may be before others of a higher level. */
    level: highest.alarm.level,
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
    shownOn: [
      ...new Map(rows.flatMap(({ alarm }) => alarm.shownOn.map((panel) => [panel.id, panel]))).values(),
    ],
  };
}

/** The names of labels that the alarms have, the most frequent first; each as it is written first. */
export function labelNamesOf(rows: readonly AlarmRow[]): readonly string[] {
  const counts = new Map<string, { name: string; count: number }>();
  for (const name of rows.flatMap(({ alarm }) => Object.keys(alarm.labels))) {
    const known = counts.get(name.toLowerCase());
    if (known) known.count += 1;
    else counts.set(name.toLowerCase(), { name, count: 1 });
  }
  return [...counts.values()]
    .sort((a, b) => b.count - a.count || a.name.localeCompare(b.name))
    .map(({ name }) => name);
}
