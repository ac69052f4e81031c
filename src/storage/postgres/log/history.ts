import { wantedUpdates } from '#core/channels/updates.ts';
import { stepsOf } from '#core/limits/concurrency.ts';
import type { ClearOutcome, History, LiveNotification, LivePosition, LogBounds } from '#core/log/log.ts';
import type { ReceiptRow, ReceiptStore, ReceiptWrite } from '#core/log/receipts.ts';
import type { Route } from '#core/log/route.ts';
import {
  type AcknowledgedRow,
  acknowledgedColumns,
  acknowledgedJoin,
  charsBySender,
  fewestCharsSql,
  finite,
  isUuid,
  toAcknowledged,
  toRepeat,
} from '../../log/history-rows.ts';
import type { Connections } from '../connections.ts';
import { type AlarmLanes, createAlarms } from './alarms.ts';
import { readLog } from './partitions.ts';
import { dropFromLog } from './retention.ts';
import {
  type EntryRow,
  entryColumns,
  type NotificationRow,
  readNotifications,
  readRecords,
  toEntries,
  toNotification,
  toRecord,
} from './rows.ts';
import { searchLog } from './search.ts';
import type { StatisticsLanes } from './statistics.ts';
import { createSuppression } from './suppress.ts';

export interface PostgresLanes extends StatisticsLanes, AlarmLanes {
  readonly writes: Connections;
}

/** The most ids that `stayingBeyond` returns. */
const idsAtOnce = 500;

/** The log on PostgreSQL. */
export const createPostgresHistory = (lanes: PostgresLanes): History => ({
  append: lanes.queue.push,
  ...createAlarms(lanes),
  ...createSuppression(lanes),

  async findRepeat(tenant, idempotency, now) {
    const [earlier] = await lanes.reads.query<{ id: string; hash: string }>(
      tenant,
      'SELECT id, hash FROM idempotency WHERE tenant = $1 AND key = $2 AND expires_at > $3',
      [tenant, idempotency.key, now],
    );
    return toRepeat(earlier, idempotency);
  },

  async clear(tenant, given, by, at, isQuiet = false) {
    if (!isUuid(given)) return { kind: 'not-found' };
    const id = given.toLowerCase();
    await lanes.queue.settled(id);
    const { rows } = await lanes.write(tenant, 1, (client) =>
      client.query<{ kind: ClearOutcome['kind']; at_position: number; of_route: Route }>(
        'SELECT * FROM clear_notification($1, $2, $3, $4, wanted_by => $5)',
        [tenant, id, by, at, isQuiet ? null : JSON.stringify(wantedUpdates.ended)],
      ),
    );
    const [cleared] = rows;
    if (cleared?.kind !== 'cleared') return { kind: cleared?.kind ?? 'not-found' };
    const { at_position: position, of_route: route } = cleared;
    return { kind: 'cleared', entry: { kind: 'clear', position, id, reason: 'cleared', by, at, route } };
  },

  async bounds(tenant) {
    const { head, first } = (await readLog(lanes.reads, tenant)) ?? { head: 0, first: 1 };
    return { head, first };
  },

  async heads(tenants) {
    const rows = await lanes.reads.query<{ tenant: number; head: number }>(
      'all',
      'SELECT tenant, head FROM logs WHERE tenant = ANY ($1::bigint[])',
      [tenants],
    );
    return new Map(rows.map(({ tenant, head }) => [tenant, head]));
  },

  async readAfter(tenant, position, limit) {
    const rows = await lanes.reads.query<LogBounds & (EntryRow | { row: null })>(
      tenant,
      `SELECT k.head, k.first, ${entryColumns} FROM logs k LEFT JOIN LATERAL read_after($1, $2, $3) n ON true
         WHERE k.tenant = $1 ORDER BY n.position`,
      [tenant, position, limit],
    );
    const [first] = rows;
    if (!first) return { head: 0, first: 1, entries: [] };
    const stored = rows.filter((row): row is LogBounds & EntryRow => row.row !== null);
    return {
      head: first.head,
      first: first.first,
      entries: await toEntries(lanes.reads, tenant, stored),
    };
  },

  async live(tenant, panel, now, limit) {
    const rows = await lanes.reads.query<{ head: number } & (LivePosition | { rank: null })>(
      tenant,
      `SELECT k.head, l.rank, l.position FROM logs k LEFT JOIN LATERAL (
         SELECT rank, position FROM live WHERE tenant = $1 AND (expires_at IS NULL OR expires_at > $2) AND shelved IS NULL
           AND (to_all OR $3 = ANY (to_ids) OR to_tags && $4::text[])
         ORDER BY rank DESC, position DESC LIMIT $5
       ) l ON true WHERE k.tenant = $1 ORDER BY l.rank DESC, l.position DESC`,
      [tenant, now, panel.id, panel.tags, limit],
    );
    const positions: LivePosition[] = [];
    for (const row of rows) if (row.rank !== null) positions.push({ rank: row.rank, position: row.position });
    return { head: rows[0]?.head ?? 0, positions };
  },

  async readLive(tenant, positions, now, chars) {
    const rows = await lanes.reads.query<
      NotificationRow &
        AcknowledgedRow & { counted: number | null; leaves: number | null; nth: number; found: number }
    >(
      tenant,
      // With what comes behind the limit it would read megabytes for each page of long texts.
      `WITH found AS MATERIALIZED (SELECT * FROM entries_at($1, $2)) SELECT * FROM (
         SELECT ${entryColumns}, l.expires_at AS leaves, s.counted, ${acknowledgedColumns}, w.nth, count(*) OVER () AS found,
           sum(${fewestCharsSql}) OVER (ORDER BY w.nth ROWS UNBOUNDED PRECEDING) - ${fewestCharsSql} AS chars_before
         FROM unnest($2::bigint[]) WITH ORDINALITY AS w (position, nth)
         JOIN found n ON n.position = w.position
         JOIN live l ON l.tenant = n.tenant AND l.rank = n.rank AND l.position = n.position
           AND (l.expires_at IS NULL OR l.expires_at > $3) AND l.shelved IS NULL
         ${acknowledgedJoin} LEFT JOIN states_of($1, (SELECT array_agg(row) FROM found)) s ON s.row = n.row
       ) n WHERE chars_before <= $4 ORDER BY nth`,
      [tenant, positions.slice(0, positionsARead), now, finite(chars)],
    );
    const notifications: LiveNotification[] = [];
    let taken = 0;
    for (const row of rows) {
      taken += charsBySender(row);
      if (taken > chars && notifications.length > 0) return { notifications, scanned: row.nth - 1 };
      notifications.push({
        ...toNotification(row),
        expiresAt: row.leaves,
        count: row.counted ?? 0,
        acknowledged: toAcknowledged(row),
      });
    }
    const last = rows.at(-1);
    if (last && rows.length < last.found) return { notifications, scanned: last.nth };
    return { notifications, scanned: Math.min(positions.length, positionsARead) };
  },

  async stayingBeyond(tenant, limit, until) {
    const rows = await lanes.reads.query<{ id: string }>(
      tenant,
      `SELECT id FROM live WHERE tenant = $1 AND (expires_at IS NULL OR expires_at > $2)
       ORDER BY rank DESC, position DESC OFFSET $3 LIMIT $4`,
      [tenant, until, limit, idsAtOnce],
    );
    return rows.map(({ id }) => id);
  },

  async findLive(tenant, key, now) {
    const [row] = await lanes.reads.query<{ id: string }>(
      tenant,
      `SELECT id FROM live WHERE tenant = $1 AND key = $2 AND (expires_at IS NULL OR expires_at > $3)
       ORDER BY position DESC LIMIT 1`,
      [tenant, key, now],
    );
    return row?.id;
  },

  async find(tenant, id) {
    if (!isUuid(id)) return undefined;
    const found = 'SELECT * FROM find_entry($1, $2)';
    const [record] = await readRecords(lanes.reads, tenant, found, [tenant, id]);
    return record && toRecord(record);
  },

  async titles(tenant, ids) {
    const found = await readNotifications(lanes.reads, tenant, ids.filter(isUuid));
    return new Map([...found].map(([id, { title }]) => [id, title]));
  },

  search: (tenant, query, options) =>
    lanes.turns.run(tenant, stepsOf(searchLog(lanes.steps, tenant, query, options)), options.signal),

  prune: (tenant, bounds, now) => dropFromLog(lanes.writes, lanes.write, tenant, { ...bounds, now }),

  async oldestRevision(tenant) {
    const [oldest] = await lanes.reads.query<{ revision: number | null }>(
      tenant,
      `SELECT min(r.revision) AS revision FROM log_revisions r JOIN logs k ON k.tenant = r.tenant
       WHERE r.tenant = $1 AND k.first <= k.head AND coalesce(
         (SELECT high FROM partitions WHERE low <= r.last_row ORDER BY low DESC LIMIT 1), 0) > k.first_row`,
      [tenant],
    );
    return oldest?.revision ?? undefined;
  },

  async size(tenant) {
    const log = await readLog(lanes.reads, tenant);
    return { notifications: log?.notifications ?? 0, bytes: log?.bytes ?? 0 };
  },
});

/** Positions looked up in one statement. */
const positionsARead = 500;

/** What panels report of the notifications that they were sent. */

export const createReceiptStore = (reads: Connections, writes: Connections): ReceiptStore => ({
  async record(tenant, panel, receipts, mode) {
    const fresh = [];
    for (const state of ['shown', 'expired', 'cleared'] as const) {
      const first = new Map<string, ReceiptWrite>();
      for (const receipt of receipts) {
        const id = receipt.id.toLowerCase();
        if (receipt.state === state && isUuid(id) && !first.has(id)) first.set(id, receipt);
      }
      if (first.size === 0) continue;
      const given = [...first.values()];
      // A row that another call has just written is looked at again, so each state is new once.
      const rows = await writes.query<{ id: string; at: number; receivedAt: number }>(
        tenant,
        `WITH sent AS MATERIALIZED (
           SELECT w.id, w.at, w.in_group, n.row, n.at AS received_at FROM unnest($2::uuid[], $3::bigint[], $6::boolean[]) AS w (id, at, in_group)
           JOIN find_entries($1, $2::uuid[]) n ON n.id = w.id
           WHERE (n.route->'target'->>'all')::boolean OR n.route->'target'->'ids' ? $4
             OR n.route->'target'->'tags' ?| $5::text[]
         ), written AS (
           INSERT INTO receipts (row, tenant, panel_id, ${state}_at, in_group) SELECT row, $1, $4, at, in_group FROM sent ORDER BY row
           ON CONFLICT (row, panel_id) DO UPDATE SET ${state}_at = excluded.${state}_at, in_group = coalesce(receipts.in_group, excluded.in_group)
           WHERE receipts.${state}_at IS NULL OR ($7 AND receipts.${state}_at < excluded.${state}_at)
           RETURNING row
         )
         SELECT sent.id, sent.at, sent.received_at AS "receivedAt" FROM sent JOIN written ON written.row = sent.row`,
        [
          tenant,
          [...first.keys()],
          given.map(({ at }) => at),
          panel.id,
          panel.tags,
          given.map(({ inGroup = null }) => inGroup),
          mode === 'last counts',
        ],
      );
      for (const row of rows) fresh.push({ ...row, state });
    }
    return fresh;
  },

  async firstShown(tenant, ids) {
    const rows = await reads.query<{ id: string; at: number }>(
      tenant,
      `WITH n AS MATERIALIZED (SELECT row, id FROM find_entries($1, $2::uuid[]))
         SELECT n.id, min(r.shown_at) AS at FROM n JOIN receipts_of($1, (SELECT array_agg(row) FROM n)) r ON r.row = n.row
         WHERE r.shown_at IS NOT NULL GROUP BY n.id`,
      [tenant, ids],
    );
    return new Map(rows.map(({ id, at }) => [id, at]));
  },

  async of(tenant, ids) {
    const rows = await reads.query<ReceiptRow & { readonly id: string }>(
      tenant,
      `WITH n AS MATERIALIZED (SELECT row, id FROM find_entries($1, $2::uuid[]))
         SELECT n.id, r.panel_id AS "panelId", r.shown_at AS "shownAt", r.in_group IS TRUE AS "inGroup", r.expired_at AS "expiredAt", r.cleared_at AS "clearedAt"
         FROM n JOIN receipts_of($1, (SELECT array_agg(row) FROM n)) r ON r.row = n.row ORDER BY r.panel_id`,
      [tenant, ids.filter(isUuid)],
    );
    const receipts = new Map<string, ReceiptRow[]>();
    for (const { id, ...receipt } of rows) {
      const earlier = receipts.get(id);
      if (earlier) earlier.push(receipt);
      else receipts.set(id, [receipt]);
    }
    return receipts;
  },
});
