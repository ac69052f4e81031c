/**
 * Alarms: rows of the live set with a memory, and the actions of people. Each action is an entry of the log. Writes run inside the
 * transaction of their batch, reads inside one snapshot.
 */
import { eventOf } from '#core/channels/updates.ts';
import type {
  Acknowledged,
  Acknowledgement,
  AlarmAction,
  AlarmOutcome,
  Assignment,
  Clear,
  ClearOutcome,
  CountedNotification,
  Entry,
  Notification,
  Return,
  Shelving,
  Suppression,
} from '#core/log/log.ts';
import type { Route, TenantId } from '#core/log/route.ts';
import { type PanelAddress, reaches } from '#core/log/target.ts';
import {
  type AcknowledgedRow,
  acknowledgedColumns,
  changeReasons,
  type EscalationRow,
  type MemoryRow,
  offOf,
  returnReasons,
  type ShelfRow,
  type SuppressedRow,
  toAcknowledged,
  toOff,
} from '../../log/history-rows.ts';
import { queueReturned, queueUpdate } from './deliveries.ts';
import { type FoundRow, findById, idAt, keyAt } from './log-lookup.ts';
import { type LogWriter, type RememberingRow, rememberingColumns } from './log-writer.ts';
import { findPartition, type Statements, tablesOf } from './partitions.ts';
import { type ChangeRow, entryColumns, type LogConnection, type NotificationRow, RowReader } from './rows.ts';

/** The memory that passes from a live row to the one that replaces it. */
export function passedOn(
  sql: Statements,
  last: RememberingRow,
  next: { readonly rank: number; readonly isShelved: boolean },
): Omit<MemoryRow, keyof EscalationRow> {
  const partition = findPartition(sql, last.row);
  const stored =
    partition &&
    sql
      .of<[number], { at: number; level: number | string; counted: number | null }>(
        `SELECT n.at, n.level, s.counted FROM ${tablesOf(partition).log} n
         LEFT JOIN ${tablesOf(partition).state} s ON s.row = n.row WHERE n.row = ?`,
      )
      .get(last.row);
  if (!partition || !stored) throw new Error(`row ${last.row} of the log is missing`);
  const isHigher = last.highest_rank === null || last.rank >= last.highest_rank;
  const level = isHigher ? new RowReader(sql).text(stored.level, partition) : last.highest_level;
  const rank = isHigher ? last.rank : (last.highest_rank as number);
  return {
    since: last.since ?? stored.at,
    earlier: (last.earlier ?? 0) + 1 + (stored.counted ?? 0),
    ...(rank > next.rank
      ? { highest_level: level, highest_rank: rank }
      : { highest_level: null, highest_rank: null }),
    shelved: next.isShelved ? last.shelved : null,
    owner: last.owner,
  };
}

/** Whether a notification of this rank stays off the panels, as its alarm is shelved. */
export const staysShelved = ({ shelved }: Pick<MemoryRow, 'shelved'>, rank: number): boolean =>
  shelved !== null && toOff(shelved).shelved !== null && rank <= (JSON.parse(shelved) as ShelfRow).rank;

/** Of a log of an older version: the alarm's memory passes to a notification that is live already. Returns false if that one is not. */
export function handOver(writer: LogWriter, tenant: TenantId, last: RememberingRow, to: string): boolean {
  const found = findById(writer.sql, tenant, to);
  const live = found && readRemembering(writer.sql, found.row);
  if (!live) return false;
  const isShelved = staysShelved(last, live.rank);
  const { since, earlier, highest_level, highest_rank, owner } = passedOn(writer.sql, last, {
    rank: live.rank,
    isShelved,
  });
  writer.sql
    .of(
      `UPDATE live SET since = min(since, ?), earlier = coalesce(earlier, 0) + ?, highest_level = coalesce(highest_level, ?),
         highest_rank = coalesce(highest_rank, ?), owner = coalesce(owner, ?) WHERE row = ?`,
    )
    .run(since, earlier, highest_level, highest_rank, owner, live.row);
  return true;
}

export const readRemembering = (sql: Statements, row: number): RememberingRow | undefined =>
  sql.of<[number], RememberingRow>(`SELECT ${rememberingColumns} FROM live WHERE row = ?`).get(row);

/** A live row by its row, if it has not expired. */
export function readStanding(sql: Statements, row: number, now: number): RememberingRow | undefined {
  const live = readRemembering(sql, row);
  return live && (live.expires_at === null || live.expires_at > now) ? live : undefined;
}

/** The rows of a key that have not expired, the oldest first. */
export const readUnder = (sql: Statements, tenant: TenantId, key: string, now: number): RememberingRow[] =>
  sql
    .of<[number, string, number], RememberingRow>(
      // SQLite would go through all that the tenant has on panels.
      `SELECT ${rememberingColumns} FROM live INDEXED BY live_keys
       WHERE tenant = ? AND key = ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY position`,
    )
    .all(tenant, key, now);

/** The most replacements that are followed of a notification without a key: those of its escalations. */
const mostFollowed = 100;

interface Standing {
  readonly id: string;
  readonly found: FoundRow;
  /** undefined: the alarm has ended. */
  readonly live: RememberingRow | undefined;
}

/** The notification that stands in the place of this one: itself, or what replaced it. */
function findStanding(sql: Statements, tenant: TenantId, id: string, now: number): Standing | undefined {
  const found = findById(sql, tenant, id);
  if (!found) return undefined;
  const own = readStanding(sql, found.row, now);
  if (own) return { id, found, live: own };
  const key = keyAt(sql, found);
  if (key !== null) return findByKey(sql, tenant, { found, key, now }) ?? { id, found, live: undefined };
  let next = replacementOf(sql, found);
  for (let i = 0; next !== undefined && i < mostFollowed; i++) {
    const replacement = findById(sql, tenant, next);
    if (!replacement) break;
    const live = readStanding(sql, replacement.row, now);
    if (live) return { id: next, found: replacement, live };
    next = replacementOf(sql, replacement);
  }
  return { id, found, live: undefined };
}

/** What is live of the key, if its alarm began before this notification was received. */
function findByKey(
  sql: Statements,
  tenant: TenantId,
  { found, key, now }: { readonly found: FoundRow; readonly key: string; readonly now: number },
): Standing | undefined {
  if (replacementOf(sql, found) === undefined) return undefined;
  const live = readUnder(sql, tenant, key, now).at(-1);
  if (!live || (live.since ?? 0) > found.receivedAt) return undefined;
  const id = idAt(sql, live.row);
  const standing = findById(sql, tenant, id);
  return standing && { id, found: standing, live };
}

function replacementOf(sql: Statements, { partition, row }: FoundRow): string | undefined {
  const found = sql
    .of<[number], { by: string }>(
      `SELECT cleared_by AS by FROM ${tablesOf(partition).state} WHERE row = ? AND cleared_reason = 'replaced'`,
    )
    .get(row);
  return found?.by;
}

/** Applies an action to the alarms of these notifications. */
export function act(
  writer: LogWriter,
  tenant: TenantId,
  ids: readonly string[],
  action: AlarmAction,
  within?: PanelAddress,
): AlarmOutcome[] {
  return ids.map((given) => {
    const standing = findStanding(writer.sql, tenant, given, action.at);
    if (!standing) return { kind: 'not-found' };
    const { target } = writer.routes.get(tenant, standing.found.route);
    if (within && !reaches(target, within)) return { kind: 'not-found' };
    const done = actOn(writer, tenant, standing, action);
    if (done.kind === 'done') queueDone(writer, tenant, standing, { action, entry: done.entry });
    return { ...done, id: standing.id };
  });
}

/** For channels, unless the alarm had ended. */
function queueDone(
  writer: LogWriter,
  tenant: TenantId,
  { id, found, live }: Standing,
  { action, entry }: { readonly action: AlarmAction; readonly entry: Entry },
): void {
  const event = eventOf(action);
  const { position } = entry;
  const { at, channel: from } = action;
  if (event && live)
    queueUpdate(writer, tenant, { id, found, since: live.since }, { event, position, at, from });
  if (entry.kind === 'return' && entry.shown) queueReturned(writer.sql, tenant, entry.shown, at);
}

type WithoutId<O> = O extends AlarmOutcome ? Omit<O, 'id'> : never;
/** An outcome about the notification that stands. */
type Done = WithoutId<Exclude<AlarmOutcome, { kind: 'not-found' }>>;

function actOn(writer: LogWriter, tenant: TenantId, standing: Standing, action: AlarmAction): Done {
  const { live } = standing;
  switch (action.kind) {
    case 'acknowledge':
      return acknowledgeStanding(writer, tenant, standing, action);
    case 'unacknowledge':
      return unacknowledge(writer, tenant, standing, action);
    case 'shelve':
      return live ? shelve(writer, tenant, { ...standing, live }, action) : { kind: 'nothing' };
    case 'unshelve':
      return live && isOver(toOff(live.shelved).shelved, action)
        ? unshelve(writer, tenant, { ...standing, live }, action)
        : { kind: 'nothing' };
    case 'assign':
      return live ? assign(writer, tenant, { ...standing, live }, action) : { kind: 'nothing' };
    case 'clear': {
      if (!live) return { kind: 'nothing' };
      const { at, by, note = null } = action;
      const given = { reason: 'cleared', at, by, note } as const;
      const entry = writer.takeOff(tenant, standing.found, standing.id, given);
      listEntry(writer.sql, tenant, live.row, entry.position);
      return { kind: 'done', entry };
    }
  }
}

/** Acknowledgements. Each is an entry of the log, and a row that is read together with its notification. */

function acknowledgeStanding(
  writer: LogWriter,
  tenant: TenantId,
  { id, found, live }: Standing,
  { over, ...given }: Extract<AlarmAction, { kind: 'acknowledge' }>,
): Done {
  const off = offOf(live?.shelved ?? null);
  if (off) return { kind: 'nothing', off };
  const earlier = readAcknowledged(writer.sql, tenant, found.row);
  const mayChange = over === 'any' || (over === 'own' && earlier?.by === given.by);
  if (earlier && !mayChange) return { kind: 'already', acknowledged: earlier };
  const { at, by, note } = given;
  const until = given.until === undefined && live ? usualEnd(writer, tenant, found, at) : given.until;
  const acknowledged = { id, at, by, note, ...(until != null && { until }) };
  return { kind: 'done', entry: insertAcknowledgement(writer, tenant, found, acknowledged) };
}

/** When an acknowledgement of `at` ends that names no time: as the route says, else as the level does. */
function usualEnd(writer: LogWriter, tenant: TenantId, found: FoundRow, at: number): number | null {
  const { sql, routes } = writer;
  const ofLevel = () => {
    const { level } = readNotification({ sql, reader: new RowReader(sql) }, found);
    return sql
      .of<[number, string], { ms: number | null }>(
        'SELECT acknowledge_for_ms AS ms FROM levels WHERE tenant = ? AND name = ?',
      )
      .get(tenant, level)?.ms;
  };
  const forMs = routes.get(tenant, found.route).acknowledgeForMs ?? ofLevel();
  return forMs ? at + forMs : null;
}

/** Adds the entry, and adds or replaces the row. */
export function insertAcknowledgement(
  writer: LogWriter,
  tenant: TenantId,
  of: Pick<FoundRow, 'row' | 'position' | 'route'>,
  given: Acknowledged & { readonly id: string },
): Acknowledgement {
  const { at, by, note, until } = given;
  const place = insertEntry(writer, tenant, of, { ...given, reason: changeReasons.acknowledgement });
  writer.sql
    .of(
      'INSERT OR REPLACE INTO acknowledgements (tenant, row, at, by, note, until) VALUES (?, ?, ?, ?, ?, ?)',
    )
    .run(tenant, of.row, at, by, note, until ?? null);
  setReturn(writer.sql, of.row, until ?? null);
  return { ...given, kind: 'acknowledgement', ...place };
}

const setReturn = (sql: Statements, row: number, at: number | null) =>
  sql.of('UPDATE live SET returns_at = ?, next_step_at = NULL WHERE row = ?').run(at, row);

export function readAcknowledged(sql: Statements, tenant: TenantId, row: number): Acknowledged | null {
  const found = sql
    .of<[number, number], AcknowledgedRow>(
      `SELECT ${acknowledgedColumns} FROM acknowledgements a WHERE tenant = ? AND row = ?`,
    )
    .get(tenant, row);
  return toAcknowledged(found);
}

/** Adds an entry about a notification, and lists it with the notification. */
export function insertEntry(
  writer: LogWriter,
  tenant: TenantId,
  { row, position: of, route }: Pick<FoundRow, 'row' | 'position' | 'route'>,
  { id, ...change }: ChangeRow & { readonly id: string },
): { readonly position: number; readonly route: Route } {
  const position = writer.insertChange(tenant, { route, position: of }, id, change);
  listEntry(writer.sql, tenant, row, position);
  return { position, route: writer.routes.get(tenant, route) };
}

const listEntry = (sql: Statements, tenant: TenantId, row: number, position: number) =>
  sql.of('INSERT INTO alarm_entries (tenant, row, position) VALUES (?, ?, ?)').run(tenant, row, position);

type Returning = Extract<AlarmAction, { kind: 'unacknowledge' | 'unshelve' }>;

/** Whether there is something to take back; if the action is only for what is over, whether it is. */
const isOver = (given: Acknowledged | null, { at, isDue }: Returning): given is Acknowledged =>
  given !== null && (!isDue || (given.until ?? Number.POSITIVE_INFINITY) <= at);

interface By {
  readonly at: number;
  readonly by: string;
}

function unacknowledge(
  writer: LogWriter,
  tenant: TenantId,
  { id, found, live }: Standing,
  action: Returning,
): Done {
  const acknowledged = readAcknowledged(writer.sql, tenant, found.row);
  if (live?.shelved || !isOver(acknowledged, action)) return { kind: 'nothing' };
  const { at, by } = action;
  return { kind: 'done', entry: endAcknowledgement(writer, tenant, found, { id, at, by }) };
}

/** The alarm is open again, on its panels as before. */
export function endAcknowledgement(
  writer: LogWriter,
  tenant: TenantId,
  of: Pick<FoundRow, 'row' | 'position' | 'route'>,
  { id, at, by }: By & { readonly id: string },
): Return {
  removeAcknowledgement(writer.sql, tenant, of.row);
  writer.sql.of('UPDATE live SET returns_at = NULL, next_step_at = step_at WHERE row = ?').run(of.row);
  lookAgain(writer.sql, tenant, of.row);
  const from = 'acknowledged';
  const place = insertEntry(writer, tenant, of, { id, at, by, reason: returnReasons[from] });
  return { kind: 'return', id, at, by, from, shown: null, ...place };
}

export const removeAcknowledgement = (sql: Statements, tenant: TenantId, row: number) =>
  sql.of('DELETE FROM acknowledgements WHERE tenant = ? AND row = ?').run(tenant, row);

/** Shelves. */

interface LiveStanding extends Standing {
  readonly live: RememberingRow;
}

function shelve(
  writer: LogWriter,
  tenant: TenantId,
  { id, found, live }: LiveStanding,
  { kind: _, channel: __, ...shelved }: Extract<AlarmAction, { kind: 'shelve' }>,
): Done {
  return { kind: 'done', entry: putOnShelf(writer, tenant, { found, live }, { ...shelved, id }) };
}

/** Takes the alarm off its panels until a time. Who acknowledged it before is not remembered: it comes back open. */
export function putOnShelf(
  writer: LogWriter,
  tenant: TenantId,
  { found, live }: { readonly found: FoundRow; readonly live: Pick<RememberingRow, 'row' | 'rank'> },
  shelved: Omit<Shelving, 'kind' | 'position' | 'route'>,
): Shelving {
  const { at, by, note, until } = shelved;
  const shelf: ShelfRow = { at, by, note, until, rank: live.rank };
  removeAcknowledgement(writer.sql, tenant, live.row);
  writer.sql
    .of('UPDATE live SET shelved = ?, returns_at = ?, suppressed = NULL, next_step_at = NULL WHERE row = ?')
    .run(JSON.stringify(shelf), until, live.row);
  const place = insertEntry(writer, tenant, found, { ...shelved, reason: changeReasons.shelving });
  return { ...shelved, kind: 'shelving', ...place };
}

function unshelve(writer: LogWriter, tenant: TenantId, { id, found }: LiveStanding, { at, by }: By): Done {
  return { kind: 'done', entry: returnToPanels(writer, tenant, found, { id, at, by, from: 'shelved' }) };
}

/** The alarm is open again, and on its panels: it comes off the shelf, or its cause has ended. */
export function returnToPanels(
  writer: LogWriter,
  tenant: TenantId,
  found: FoundRow,
  change: By & Pick<Return, 'id' | 'from'>,
): Return & { readonly shown: Notification } {
  writer.sql
    .of(
      'UPDATE live SET shelved = NULL, returns_at = NULL, suppressed = NULL, next_step_at = step_at WHERE row = ?',
    )
    .run(found.row);
  lookAgain(writer.sql, tenant, found.row);
  const shown = readNotification({ sql: writer.sql, reader: new RowReader(writer.sql) }, found);
  const { from, ...rest } = change;
  const place = insertEntry(writer, tenant, found, { ...rest, reason: returnReasons[from] });
  return { kind: 'return', ...change, shown, ...place };
}

/** An alarm that is open again may have a cause: those that it follows count as new. */
const lookAgain = (sql: Statements, tenant: TenantId, row: number) =>
  sql
    .of(
      `UPDATE alarm_causes SET is_new = 1 WHERE tenant = ? AND key IN (
         SELECT k.value FROM live l CROSS JOIN json_each(l.follows) k WHERE l.row = ?)`,
    )
    .run(tenant, row);

/** Takes the alarm off its panels as long as its cause stands. */
export function suppress(
  writer: LogWriter,
  tenant: TenantId,
  found: FoundRow,
  given: Omit<Suppression, 'kind' | 'position' | 'route'>,
): Suppression {
  const { key: note, ...change } = given;
  const { at, by } = change;
  removeAcknowledgement(writer.sql, tenant, found.row);
  writer.sql
    .of('UPDATE live SET suppressed = ?, shelved = ?, returns_at = NULL, next_step_at = NULL WHERE row = ?')
    .run(note, JSON.stringify({ at, by } satisfies SuppressedRow), found.row);
  const place = insertEntry(writer, tenant, found, { ...change, note, reason: changeReasons.suppression });
  return { ...given, kind: 'suppression', ...place };
}

/** Owners. */

function assign(
  writer: LogWriter,
  tenant: TenantId,
  { id, found }: LiveStanding,
  { kind: _, channel: __, ...given }: Extract<AlarmAction, { kind: 'assign' }>,
): Done {
  return { kind: 'done', entry: setOwner(writer, tenant, found, { ...given, id }) };
}

export function setOwner(
  writer: LogWriter,
  tenant: TenantId,
  of: Pick<FoundRow, 'row' | 'position' | 'route'>,
  given: Omit<Assignment, 'kind' | 'position' | 'route'>,
): Assignment {
  const { owner, ...change } = given;
  const note = owner && JSON.stringify(owner);
  writer.sql.of('UPDATE live SET owner = ? WHERE row = ?').run(note, of.row);
  const place = insertEntry(writer, tenant, of, { ...change, note, reason: changeReasons.assignment });
  return { ...given, kind: 'assignment', ...place };
}

/** The notification in a row. */
export function readNotification(
  { sql, reader }: Pick<LogConnection, 'sql' | 'reader'>,
  { partition, row }: Pick<FoundRow, 'partition' | 'row'>,
): CountedNotification {
  const { log, state } = tablesOf(partition);
  const found = sql
    .of<[number], NotificationRow & { counted: number | null }>(
      `SELECT ${entryColumns}, s.counted FROM ${log} n LEFT JOIN ${state} s ON s.row = n.row WHERE n.row = ?`,
    )
    .get(row);
  if (!found) throw new Error(`row ${row} of the log is missing`);
  return { ...reader.notification(found, partition), count: found.counted ?? 0 };
}

/** Takes a notification off its panels, if it is on any. */
export function clear(
  writer: LogWriter,
  tenant: TenantId,
  id: string,
  { isQuiet, ...given }: Pick<Clear, 'by' | 'at'> & { readonly isQuiet?: boolean },
): ClearOutcome {
  const found = findById(writer.sql, tenant, id);
  if (!found) return { kind: 'not-found' };
  const live = readStanding(writer.sql, found.row, given.at);
  if (!live) return { kind: 'not-live' };
  const entry = writer.takeOff(tenant, found, id, { ...given, reason: 'cleared' });
  const update = { event: 'ended', position: entry.position, at: given.at } as const;
  if (!isQuiet) queueUpdate(writer, tenant, { id, found, since: live.since }, update);
  return { kind: 'cleared', entry };
}

/** Reads the notification of an entry that shows it again; undefined if it is no longer kept. */
export const notificationFinder =
  (connection: Pick<LogConnection, 'sql' | 'reader'>) => (tenant: TenantId, id: string) => {
    const found = findById(connection.sql, tenant, id);
    return found && readNotification(connection, found);
  };
