/** Alarms: rows of the live set with a memory, and the actions of people. Each action is an entry of the log. */
import { eventOf, wantedUpdates } from '#core/channels/updates.ts';
import type { AlarmPlaces } from '#core/log/alarm-places.ts';
import type {
  AlarmAction,
  AlarmOutcome,
  CountedNotification,
  DueReturn,
  DueStep,
  History,
} from '#core/log/log.ts';
import type { Route, TenantId } from '#core/log/route.ts';
import { type AcknowledgedRow, firstAlarmRank, isUuid, toAcknowledged } from '../../log/history-rows.ts';
import type { Connections } from '../connections.ts';
import type { AppendQueue } from './append-queue.ts';
import type { LogWrite } from './partitions.ts';
import { type EntryRow, entryColumns, readNotifications, readRecords, toEntries, toRecord } from './rows.ts';
import type { StatisticsLanes } from './statistics.ts';

/** What `act_on_alarms` answers for an id. Of a new acknowledgement, `acknowledged_until` is when it ends. */
interface ActedRow extends AcknowledgedRow {
  readonly kind: AlarmOutcome['kind'];
  readonly of_id: string;
  readonly at_position: number;
  readonly of_route: Route;
}

export interface AlarmLanes extends Pick<StatisticsLanes, 'reads' | 'turns'> {
  readonly writes: Connections;
  readonly queue: AppendQueue;
  /** For what writes entries of the log. */
  readonly write: LogWrite;
}

export const createAlarms = (
  lanes: AlarmLanes,
): Pick<
  History,
  'act' | 'alarms' | 'dueReturns' | 'dueSteps' | 'settleStep' | 'entriesOf' | 'recordsAt'
> => ({
  async act(tenant, given, action, within) {
    const ids = given.map((id) => id.toLowerCase());
    const known = ids.filter(isUuid);
    if (known.length === 0) return ids.map(() => ({ kind: 'not-found' }));
    await Promise.all(known.map((id) => lanes.queue.settled(id)));
    const { rows } = await lanes.write(tenant, known.length, (client) =>
      client.query<ActedRow>(
        `SELECT kind, of_id, at_position, of_route, earlier_at AS acknowledged_at, earlier_by AS acknowledged_by,
           earlier_note AS acknowledged_note, earlier_until AS acknowledged_until
         FROM act_on_alarms($1, $2::uuid[], $3, $4, $5::text[])`,
        [tenant, known, JSON.stringify(toStored(action)), within?.id ?? null, within?.tags ?? null],
      ),
    );
    const back = action.kind === 'unshelve' ? rows.filter(({ kind }) => kind === 'done') : [];
    const shown = await readNotifications(
      lanes.reads,
      tenant,
      back.map(({ of_id }) => of_id),
    );
    const reasons = await offReasonsOf(lanes, tenant, action.kind === 'acknowledge' ? rows : []);
    const answers = rows.values();
    return ids.map((id) => {
      const row = isUuid(id) ? answers.next().value : undefined;
      if (!row) return { kind: 'not-found' };
      const outcome = toOutcome(row, action, shown.get(row.of_id));
      if (outcome.kind !== 'nothing' || action.kind !== 'acknowledge') return outcome;
      const off = reasons.get(outcome.id);
      return off ? { ...outcome, off } : outcome;
    });
  },

  alarms: (tenant, { now, among, states, after, limit }) =>
    lanes.turns.run(tenant, async () => {
      const [found] = await lanes.reads.query<
        Pick<AlarmPlaces, 'places'> & { counts: Partial<AlarmPlaces['counts']> }
      >(
        tenant,
        `WITH standing AS MATERIALIZED (
           SELECT l.position, l.id, l.rank, coalesce(l.since, 0) AS since,
             CASE WHEN l.suppressed IS NOT NULL THEN 'suppressed' WHEN l.shelved IS NOT NULL THEN 'shelved' WHEN a.row IS NOT NULL THEN 'acknowledged' ELSE 'open' END AS state
           FROM live l LEFT JOIN acknowledgements a ON a.tenant = l.tenant AND a.row = l.row
           WHERE l.tenant = $1 AND (l.expires_at IS NULL OR l.expires_at > $2) AND l.rank >= ${firstAlarmRank}
             AND ($3::bigint[] IS NULL OR l.position = ANY ($3))
         ), page AS (
           SELECT * FROM standing WHERE state = ANY ($4) AND ($5::integer IS NULL OR (rank, since, position) < ($5, $6::bigint, $7::bigint))
           ORDER BY rank DESC, since DESC, position DESC LIMIT $8
         )
         SELECT (SELECT coalesce(jsonb_agg(to_jsonb(page) ORDER BY rank DESC, since DESC, position DESC), '[]') FROM page) AS places,
           (SELECT coalesce(jsonb_object_agg(state, count), '{}') FROM (SELECT state, count(*) FROM standing GROUP BY state) s) AS counts`,
        [
          tenant,
          now,
          among ?? null,
          states,
          after?.rank ?? null,
          after?.since ?? null,
          after?.position ?? null,
          limit,
        ],
      );
      return {
        places: found?.places ?? [],
        counts: { open: 0, acknowledged: 0, shelved: 0, suppressed: 0, ...found?.counts },
      };
    }),

  dueReturns: (now, limit) =>
    lanes.reads.query<DueReturn>(
      'all',
      `SELECT tenant, id, CASE WHEN shelved IS NULL THEN 'unacknowledge' ELSE 'unshelve' END AS kind FROM live
       WHERE returns_at <= $1 AND (expires_at IS NULL OR expires_at > $1) ORDER BY returns_at LIMIT $2`,
      [now, limit],
    ),

  dueSteps: (now, limit) =>
    lanes.reads.query<DueStep>(
      'all',
      `SELECT tenant, id, step FROM live WHERE next_step_at <= $1 AND (expires_at IS NULL OR expires_at > $1)
         AND tenant NOT IN (SELECT id FROM tenants WHERE state <> 'active') ORDER BY next_step_at LIMIT $2`,
      [now, limit],
    ),

  async settleStep({ tenant, id, step }, at) {
    const change =
      at === undefined
        ? 'escalation = NULL, step = NULL, step_at = $4, next_step_at = $4'
        : 'step_at = $4, next_step_at = $4';
    await lanes.writes.query(
      tenant,
      `UPDATE live l SET ${change} FROM find_entry($1, $2) g
       WHERE l.tenant = g.tenant AND l.rank = g.rank AND l.position = g.position AND l.step = $3 AND l.next_step_at IS NOT NULL`,
      [tenant, id, step, at ?? null],
    );
  },

  async entriesOf(tenant, ids, limit) {
    const rows = await lanes.reads.query<EntryRow>(
      tenant,
      `WITH listed AS MATERIALIZED (
         SELECT e.position FROM find_entries($1, $2::uuid[]) n JOIN alarm_entries e ON e.tenant = $1 AND e.row = n.row
         ORDER BY e.position DESC LIMIT $3
       )
       SELECT ${entryColumns} FROM entries_at($1, array(SELECT position FROM listed)) n ORDER BY n.position`,
      [tenant, [...new Set(ids.filter(isUuid))], limit],
    );
    return toEntries(lanes.reads, tenant, rows);
  },

  async recordsAt(tenant, positions) {
    const found = `SELECT n.* FROM entries_at($1, $2) n
      WHERE n.cleared IS NULL AND n.position >= (SELECT first FROM logs WHERE tenant = $1)`;
    const rows = await readRecords(lanes.reads, tenant, found, [tenant, positions]);
    const records = new Map(rows.map((row) => [row.position, toRecord(row)]));
    return positions.flatMap((position) => records.get(position) ?? []);
  },
});

/** Why those that were not acknowledged are off their panels; without those that have come back since. */
async function offReasonsOf(
  { reads }: AlarmLanes,
  tenant: TenantId,
  rows: readonly ActedRow[],
): Promise<ReadonlyMap<string, 'shelved' | 'suppressed'>> {
  const off = rows.filter(({ kind }) => kind === 'nothing').map(({ of_id }) => of_id);
  if (off.length === 0) return new Map();
  const found = await reads.query<{ id: string; off: 'shelved' | 'suppressed' }>(
    tenant,
    `SELECT l.id, CASE WHEN l.suppressed IS NULL THEN 'shelved' ELSE 'suppressed' END AS off FROM find_entries($1, $2::uuid[]) n
     JOIN live l ON l.tenant = n.tenant AND l.rank = n.rank AND l.position = n.position WHERE l.shelved IS NOT NULL`,
    [tenant, off],
  );
  return new Map(found.map(({ id, off }) => [id, off]));
}

/** As the type `alarm_action` of the schema has it. */
function toStored(action: AlarmAction) {
  const event = eventOf(action);
  const given = { ...action, ...(event && { wanted: wantedUpdates[event] }) };
  if (action.kind !== 'unacknowledge' && action.kind !== 'unshelve') return given;
  const { isDue: is_due = false } = action;
  return { ...given, is_due };
}

/** `shown`: the notification of an alarm that comes off the shelf. */
function toOutcome(row: ActedRow, action: AlarmAction, shown: CountedNotification | undefined): AlarmOutcome {
  const { kind, of_id: id } = row;
  switch (kind) {
    case 'done':
      return { kind, id, entry: toEntry(row, action, shown) };
    case 'already':
      return { kind, id, acknowledged: toAcknowledged(row) ?? { at: action.at, by: '', note: null } };
    case 'nothing':
      return { kind, id };
    default:
      return { kind: 'not-found' };
  }
}

function toEntry(
  { of_id: id, at_position: position, of_route: route, acknowledged_until: until }: ActedRow,
  action: AlarmAction,
  shown: CountedNotification | undefined,
): Extract<AlarmOutcome, { kind: 'done' }>['entry'] {
  const { at, by } = action;
  switch (action.kind) {
    case 'acknowledge': {
      const { note } = action;
      const given = { at, by, note, ...(until !== null && { until }) };
      return { ...given, kind: 'acknowledgement', position, id, route };
    }
    case 'shelve':
      return { kind: 'shelving', position, id, at, by, note: action.note, until: action.until, route };
    case 'clear': {
      const { note } = action;
      return { kind: 'clear', position, id, reason: 'cleared', at, by, ...(note != null && { note }), route };
    }
    case 'assign':
      return { kind: 'assignment', position, id, at, by, owner: action.owner, route };
    case 'unacknowledge':
      return { kind: 'return', position, id, at, by, from: 'acknowledged', shown: null, route };
    case 'unshelve':
      return { kind: 'return', position, id, at, by, from: 'shelved', shown: shown ?? null, route };
  }
}
