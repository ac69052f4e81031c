/**
 * What both stores share of the log. One table of fields says which columns a notification has; tables, appending, copies and
 * transfers take their columns from it. Rows become the types of the core here and in `rows.ts` of each store. `retention.ts`
 * finds the entries that a tenant's retention drops, by walking from the oldest; a store only reads rows and moves the beginning
 * of the log.
 */
import { optionalTextNames } from '#contract/history/fields.ts';
import { builtInStyles } from '#contract/routing/level-styles.ts';
import { isResolve } from '#core/channels/channels.ts';
import type {
  Acknowledged,
  AlarmMemory,
  Clear,
  CountedNotification,
  Entry,
  HistoryRecord,
  Idempotency,
  Notification,
  NotificationDraft,
  RepeatOutcome,
  Return,
  Shelved,
} from '#core/log/log.ts';
import type { Escalation, Ref, Route, SuppressKeys } from '#core/log/route.ts';
import { isEmpty } from '#core/log/target.ts';

/** The columns of an entry that are the same in both stores. */
export interface EntryColumns {
  readonly row: number;
  readonly position: number;
  readonly at: number;
  /** null: a notification, whose columns below `reason` are set as in {@link NotificationColumns}. */
  readonly cleared: number | null;
  readonly by: string | null;
  readonly reason: string | null;
  /** The note of an acknowledgement or a shelving; else null. */
  readonly message: string | null;
}

/** How a field of a notification is stored, in both stores. */
export interface FieldColumn {
  readonly column: string;
  /** `shared`: a text that many rows have in common, which a store may keep once. */
  readonly kind: 'text' | 'shared' | 'number';
}

/** Both stores keep these in columns of their own. */
type OwnColumn = 'id' | 'receivedAt' | 'route' | 'ttl' | 'expiresAt' | 'throttledOn' | 'throttleCount';
type StoredField = Exclude<keyof NotificationDraft, OwnColumn>;

/** The fields whose columns are the same in both stores. Tables, appending, copies and transfers take their columns from here. */
export const fieldColumns = {
  title: { column: 'title', kind: 'text' },
  message: { column: 'message', kind: 'text' },
  level: { column: 'level', kind: 'shared' },
  rank: { column: 'rank', kind: 'number' },
  /** null: the same as level. */
  sentLevel: { column: 'sent_level', kind: 'shared' },
  sentTtl: { column: 'sent_ttl', kind: 'number' },
  ip: { column: 'ip', kind: 'shared' },
  host: { column: 'host', kind: 'shared' },
  key: { column: 'key', kind: 'shared' },
  url: { column: 'url', kind: 'text' },
  labels: { column: 'labels', kind: 'shared' },
  sourceIp: { column: 'source_ip', kind: 'shared' },
  tokenId: { column: 'token_id', kind: 'shared' },
} as const satisfies Readonly<Record<StoredField, FieldColumn>>;

export const columnList = Object.entries(fieldColumns) as unknown as readonly (readonly [
  field: StoredField,
  column: FieldColumn,
])[];

/** The fields' columns as a row has them; `Shared`: the store's type for a text that many rows have in common. */
export type NotificationColumns<Shared> = {
  readonly [F in StoredField as (typeof fieldColumns)[F]['column']]: (typeof fieldColumns)[F]['kind'] extends 'shared'
    ? Shared | (F extends 'sentLevel' ? null : Extract<NotificationDraft[F], null>)
    : NotificationDraft[F];
};

/** What a column has of a field. */
export const columnValue = (
  draft: Pick<NotificationDraft, StoredField>,
  field: StoredField,
): string | number | null => (field === 'sentLevel' && draft.sentLevel === draft.level ? null : draft[field]);

/** Of a lower rank, nothing is wrong: it is no alarm. With a key, it ends one: see `isResolve`. */
export const firstAlarmRank = builtInStyles.info.rank;

/** Whether it leads to any panel. */
export const isShown = ({ route, throttledOn }: Pick<NotificationDraft, 'route' | 'throttledOn'>): boolean =>
  !route.muted && !isEmpty(route.target) && throttledOn === null;

/** The fields of a notification whose columns are the same in both stores. */
export function sharedFields<Shared>(
  row: NotificationColumns<Shared> &
    Pick<EntryColumns, 'position' | 'at'> & { readonly throttle_count: number },
  textOf: (stored: Shared) => string,
) {
  const fields: Partial<Record<StoredField, unknown>> = {};
  for (const [field, { column, kind }] of columnList) {
    const stored = row[column as keyof typeof row];
    fields[field] = kind === 'shared' && stored !== null ? textOf(stored as Shared) : stored;
  }
  fields.sentLevel ??= fields.level;
  return {
    ...(fields as Pick<NotificationDraft, StoredField>),
    kind: 'notification' as const,
    position: row.position,
    receivedAt: row.at,
    throttleCount: row.throttle_count,
  };
}

/** How a notification was cleared; all columns are null if it was not. */
export interface ClearedRow {
  readonly cleared_at: number | null;
  readonly cleared_by: string | null;
  readonly cleared_reason: string | null;
}

export function toCleared({ cleared_at, cleared_by, cleared_reason }: ClearedRow): HistoryRecord['cleared'] {
  if (cleared_at === null) return null;
  return { at: cleared_at, by: cleared_by ?? '', reason: toReason(cleared_reason) };
}

export const toReason = (text: string | null) => (text === 'replaced' ? 'replaced' : 'cleared');

/** Who acknowledged a notification; all columns are null if nobody did. */
export interface AcknowledgedRow {
  readonly acknowledged_at: number | null;
  readonly acknowledged_by: string | null;
  readonly acknowledged_note: string | null;
  readonly acknowledged_until: number | null;
}

/** What happened to a notification since it was stored, as a query can test it. */
export interface StateRow extends ClearedRow, AcknowledgedRow {
  /** How many panels have reported showing it. */
  readonly shown: number;
}

/** How far the escalation of an alarm is; all columns are null if it has none. */
export interface EscalationRow {
  /** JSON of {@link Escalation}. */
  readonly escalation: string | null;
  readonly step: number | null;
  /** When the next step is due if the alarm is open then; null: there is none. */
  readonly step_at: number | null;
  /** The same while the alarm is open, else null. */
  readonly next_step_at: number | null;
}

/** The state of an escalation from which this step is the next one. `at`: when the one before it was sent. */
export function escalationRow({ rule, steps }: Escalation, step: number, at: number): EscalationRow {
  const { afterMs } = steps[step] ?? {};
  const due = afterMs === undefined ? null : at + afterMs;
  return { escalation: JSON.stringify({ rule, steps }), step, step_at: due, next_step_at: due };
}

export const toEscalation = (stored: string): Escalation => JSON.parse(stored) as Escalation;

/** What the live set remembers of an alarm; all columns are null if the notification is not live. */
export interface MemoryRow extends EscalationRow {
  readonly since: number | null;
  readonly earlier: number | null;
  readonly highest_level: string | null;
  readonly highest_rank: number | null;
  /** JSON of {@link ShelfRow}, or of {@link SuppressedRow} if `suppressed` is set. */
  readonly shelved: string | null;
  /** JSON: id and name. */
  readonly owner: string | null;
}

/** `rank`: that of the alarm when it was shelved. A notification of a higher one ends the shelf. */
export type ShelfRow = Shelved & { readonly rank: number };

export type SuppressedRow = NonNullable<AlarmMemory['suppressed']>;

/** The memory of the notification that is live now, of which throttles have counted `counted`. */
export function toMemory(
  { since, earlier, highest_level, highest_rank, shelved, owner, escalation, step, next_step_at }: MemoryRow,
  { receivedAt, level, rank, route }: Pick<Notification, 'receivedAt' | 'level' | 'rank' | 'route'>,
  counted: number,
): AlarmMemory {
  const isHigher = highest_rank !== null && highest_rank > rank;
  return {
    since: since ?? receivedAt,
    // Not the steps of its escalation. Those from before it was acknowledged and became worse are still in it.
    count: Math.max(1, (earlier ?? 0) + 1 + counted - (route.escalated?.times ?? 0)),
    highestLevel: isHigher ? (highest_level ?? level) : level,
    highestRank: isHigher ? highest_rank : rank,
    ...toOff(shelved),
    owner: owner === null ? null : (JSON.parse(owner) as Ref),
    ...(escalation !== null && {
      escalation: { ...toEscalation(escalation), step: step ?? 0, nextAt: next_step_at },
    }),
  };
}

/** Why an alarm is off its panels: a person has shelved it, its cause stands, or neither. */
export function toOff(stored: string | null): Pick<AlarmMemory, 'shelved' | 'suppressed'> {
  const { at, by, note, until } = JSON.parse(stored ?? '{}') as Partial<ShelfRow>;
  if (at === undefined || by === undefined) return { shelved: null, suppressed: null };
  return until === undefined
    ? { shelved: null, suppressed: { at, by } }
    : { shelved: { at, by, note: note ?? null, until }, suppressed: null };
}

/** Why an alarm is off its panels, from the same column. */
export function offOf(stored: string | null): 'shelved' | 'suppressed' | null {
  const { shelved, suppressed } = toOff(stored);
  return shelved ? 'shelved' : suppressed && 'suppressed';
}

/** What a live notification has of its route's part in suppressing alarms. The end of an alarm has none. */
export function suppressKeysOf(
  draft: Pick<NotificationDraft, 'key' | 'rank'>,
  { suppress }: Route,
): SuppressKeys {
  return suppress && !isResolve(draft) ? suppress : { causes: [], follows: [] };
}

/** As the columns of a live row have it. */
export const toStoredFollows = ({ follows }: SuppressKeys): string | null =>
  follows.length > 0 ? JSON.stringify(follows) : null;

/** Goes with {@link acknowledgedJoin}. */
export const acknowledgedColumns =
  'a.at AS acknowledged_at, a."by" AS acknowledged_by, a.note AS acknowledged_note, a.until AS acknowledged_until';

/** Goes with `FROM log n`. */
export const acknowledgedJoin = 'LEFT JOIN acknowledgements a ON a.tenant = n.tenant AND a.row = n.row';

export function toAcknowledged(row: AcknowledgedRow | undefined): Acknowledged | null {
  if (!row || row.acknowledged_at === null) return null;
  const {
    acknowledged_at: at,
    acknowledged_by: by,
    acknowledged_note: note,
    acknowledged_until: until,
  } = row;
  return { at, by: by ?? '', note, ...(until !== null && { until }) };
}

/** The reasons of entries about a notification that do not clear it. What else they have is in the column `message`. */
export const changeReasons = {
  acknowledgement: 'acknowledged',
  shelving: 'shelved',
  suppression: 'suppressed',
  assignment: 'assigned',
} as const;

/** Of entries that bring an alarm back, by the state it had. */
export const returnReasons = {
  acknowledged: 'unacknowledged',
  shelved: 'unshelved',
  suppressed: 'unsuppressed',
} as const satisfies Readonly<Record<Return['from'], string>>;

/** An entry about a notification that does not clear it. */
export type AlarmEntry = Exclude<Entry, Notification | Clear>;

/** How such an entry is stored beside its place, its time and its author. */
export function storedChange(entry: AlarmEntry): {
  readonly reason: string;
  readonly note: string | null;
  readonly until: number | null;
} {
  switch (entry.kind) {
    case 'return':
      return { reason: returnReasons[entry.from], note: null, until: null };
    case 'suppression':
      return { reason: changeReasons.suppression, note: entry.key, until: null };
    case 'assignment': {
      const note = entry.owner && JSON.stringify(entry.owner);
      return { reason: changeReasons.assignment, note, until: null };
    }
    default:
      return { reason: changeReasons[entry.kind], note: entry.note, until: entry.until ?? null };
  }
}

/** An entry of the log about a notification. */
export type ChangeColumns = Omit<EntryColumns, 'row' | 'cleared'> &
  Pick<Entry, 'id' | 'route'> & {
    /** When an acknowledgement or a shelf ends; null: never, or it is another change. */
    readonly until: number | null;
  };

/** `find` reads the notification of an alarm that comes off the shelf. */
export function toChange(
  { position, id, reason, by, at, message: note, until, route }: ChangeColumns,
  find: () => CountedNotification | undefined,
): Entry {
  const change = { position, id, by: by ?? '', at, route };
  switch (reason) {
    case changeReasons.acknowledgement:
      return { ...change, kind: 'acknowledgement', note, ...(until !== null && { until }) };
    case changeReasons.shelving:
      return { ...change, kind: 'shelving', note, until: until ?? at };
    case changeReasons.suppression:
      return { ...change, kind: 'suppression', key: note ?? '' };
    case changeReasons.assignment:
      return { ...change, kind: 'assignment', owner: note === null ? null : (JSON.parse(note) as Ref) };
    case returnReasons.acknowledged:
      return { ...change, kind: 'return', from: 'acknowledged', shown: null };
    case returnReasons.shelved:
      return { ...change, kind: 'return', from: 'shelved', shown: find() ?? null };
    case returnReasons.suppressed:
      return { ...change, kind: 'return', from: 'suppressed', shown: find() ?? null };
    default:
      return { ...change, kind: 'clear', reason: toReason(reason), ...(note !== null && { note }) };
  }
}

/** The outcome of a repeated idempotency key; undefined when the key was not used before. */
export function toRepeat(
  earlier: { readonly id: string; readonly hash: string } | undefined,
  { hash, isState }: Idempotency,
): RepeatOutcome | undefined {
  if (earlier?.hash === hash) return { kind: 'repeated', id: earlier.id };
  return earlier && !isState ? { kind: 'conflict' } : undefined;
}

/** Checked before a query, because a request may contain any text as an id. */
export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

/** How far apart the time of an id and the receipt of its notification may be: much more than intake allows. */
const idSlackMs = 60_000;

/** Between which times a notification with an id of this time was received (Unix milliseconds). */
export const receivedBetween = (idTime: number) => ({
  earliest: idTime - idSlackMs,
  latest: idTime + idSlackMs,
});

/**
 * When a notification leaves the live set, by a clock that may have been set since it was received. What is ahead of the clock came
 * before the clock was set: it stays no longer than its time from now on, and as before once the clock has reached it.
 */
export function leavesAt(
  { receivedAt, expiresAt, leaves }: Record<'receivedAt' | 'expiresAt' | 'leaves', number>,
  now: number,
): number {
  return receivedAt > now ? Math.min(leaves, now + expiresAt - receivedAt) : expiresAt;
}

/** The fields whose length the sender chooses. */
const writtenFields = ['title', 'message', ...optionalTextNames] as const;

/** How much a sender wrote. */
export const charsBySender = (given: Pick<Notification, (typeof writtenFields)[number]>): number =>
  writtenFields.reduce((sum, field) => sum + (given[field]?.length ?? 0), 0);

/** SQL, of a row `n`: at most what {@link charsBySender} answers. A character has up to four bytes, known without unpacking a text. */
export const fewestCharsSql = `(${writtenFields
  .map((field) => `coalesce(octet_length(n.${fieldColumns[field].column}), 0)`)
  .join(' + ')}) / 4`;

/** Estimates the bytes of a notification on disk; `overhead` is the size of a row without its texts. */
export const rowBytesOver =
  (overhead: number) =>
  (title: string, message: string): number =>
    overhead + Buffer.byteLength(title) + Buffer.byteLength(message);

/** The same estimate as an SQL expression on a stored row. */
export const rowBytesSqlOver = (overhead: number) =>
  `${overhead} + octet_length(title) + octet_length(message)`;

/** Rounds a time and replaces infinity, because databases compare it with whole numbers. */
export const finite = (time: number): number =>
  Math.max(Number.MIN_SAFE_INTEGER, Math.min(Math.ceil(time), Number.MAX_SAFE_INTEGER));
