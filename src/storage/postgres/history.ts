import type {
  Acknowledged,
  AcknowledgeOutcome,
  AppendOutcome,
  ClearOutcome,
  Entry,
  History,
  HistoryRecord,
  Idempotency,
  LiveNotification,
  LivePosition,
  LogBounds,
  LogPage,
  NotificationDraft,
  Ref,
  Route,
  SearchOptions,
  SearchPage,
  TenantId,
  ThrottleClaim,
} from '#core/ports.ts';
import type { ReceiptRow, ReceiptStore, ReceiptWrite } from '#core/receipts.ts';
import type { Query } from '#core/search/search-query.ts';
import type { PanelAddress } from '#core/target.ts';
import { type FairQueue, stepsOf } from '../fair-queue.ts';
import {
  type AcknowledgedRow,
  acknowledgedColumns,
  acknowledgedJoin,
  charsBySender,
  isUuid,
  toAcknowledged,
  toClearing,
  toRepeat,
} from '../history-rows.ts';
import type { RetentionBounds } from '../retention.ts';
import { type AcknowledgeRow, toAcknowledgeOutcome } from './acknowledgements.ts';
import type { AppendQueue } from './append-queue.ts';
import type { Connections } from './connections.ts';
import { againIfDropped, type LogWrite, logOf, type Partition } from './partitions.ts';
import { firstShown, receiptsOf, recordReceipts } from './receipts.ts';
import { dropFromLog } from './retention.ts';
import {
  type EntryRow,
  entryColumns,
  type NotificationRow,
  type RecordRow,
  recordsIn,
  toEntry,
  toNotification,
  toRecord,
} from './rows.ts';
import { finite, readBounds, type SearchLanes, searchLog } from './search.ts';

export interface PostgresLanes extends SearchLanes {
  readonly queue: AppendQueue;
  /** For what writes entries of the log. */
  readonly write: LogWrite;
  readonly writes: Connections;
  /** Searches wait here for their turn. */
  readonly turns: FairQueue;
}

/** The log on PostgreSQL. */
export class PostgresHistory implements History, ReceiptStore {
  readonly #lanes: PostgresLanes;

  constructor(lanes: PostgresLanes) {
    this.#lanes = lanes;
  }

  append(
    tenant: TenantId,
    draft: NotificationDraft,
    idempotency: Idempotency | null,
    claims: readonly ThrottleClaim[] = [],
  ): Promise<AppendOutcome> {
    return this.#lanes.queue.push(tenant, draft, idempotency, claims);
  }

  async findRepeat(tenant: TenantId, idempotency: Idempotency, now: number) {
    const [earlier] = await this.#read<{ id: string; hash: string }>(
      tenant,
      'find-retry',
      'SELECT id, hash FROM idempotency WHERE tenant = $1 AND key = $2 AND expires_at > $3',
      [tenant, idempotency.key, now],
    );
    return toRepeat(earlier, idempotency);
  }

  async clear(
    tenant: TenantId,
    given: string,
    what: string | Pick<Ref, 'id'>,
    at: number,
  ): Promise<ClearOutcome> {
    if (!isUuid(given)) return { kind: 'not-found' };
    const id = given.toLowerCase();
    const { by, reason } = toClearing(what);
    await this.#lanes.queue.settled(id);
    const { rows } = await this.#lanes.write(tenant, 1, (client) =>
      client.query<{ kind: ClearOutcome['kind']; at_position: number; of_route: Route }>(
        'SELECT * FROM clear_notification($1, $2, $3, $4, $5)',
        [tenant, id, by, at, reason],
      ),
    );
    const [cleared] = rows;
    if (cleared?.kind !== 'cleared') return { kind: cleared?.kind ?? 'not-found' };
    const { at_position: position, of_route: route } = cleared;
    return { kind: 'cleared', entry: { kind: 'clear', position, id, reason, by, at, route } };
  }

  async acknowledge(tenant: TenantId, given: string, what: Acknowledged): Promise<AcknowledgeOutcome> {
    if (!isUuid(given)) return { kind: 'not-found' };
    const id = given.toLowerCase();
    await this.#lanes.queue.settled(id);
    const { rows } = await this.#lanes.write(tenant, 1, (client) =>
      client.query<AcknowledgeRow>('SELECT * FROM acknowledge_notification($1, $2, $3, $4, $5)', [
        ...[tenant, id, what.by, what.at, what.note],
      ]),
    );
    return toAcknowledgeOutcome(rows[0], id, what);
  }

  async bounds(tenant: TenantId): Promise<LogBounds> {
    return (await readBounds(this.#lanes.reads, tenant)) ?? { head: 0, first: 1 };
  }

  async heads(tenants: readonly TenantId[]): Promise<ReadonlyMap<TenantId, number>> {
    const rows = await this.#lanes.reads.query<{ tenant: TenantId; head: number }>(
      'all',
      'heads',
      'SELECT tenant, head FROM logs WHERE tenant = ANY ($1::bigint[])',
      [tenants],
    );
    return new Map(rows.map(({ tenant, head }) => [tenant, head]));
  }

  async readAfter(tenant: TenantId, position: number, limit: number): Promise<LogPage> {
    const rows = await againIfDropped(() =>
      this.#read<LogBounds & (EntryRow | { row: null })>(
        tenant,
        'read-after',
        `SELECT k.head, k.first, ${entryColumns} FROM logs k LEFT JOIN LATERAL read_after($1, $2, $3) n ON true
         WHERE k.tenant = $1 ORDER BY n.position`,
        [tenant, position, limit],
      ),
    );
    const [first] = rows;
    if (!first) return { head: 0, first: 1, entries: [] };
    const entries: Entry[] = [];
    for (const row of rows) if (row.row !== null) entries.push(toEntry(row));
    return { head: first.head, first: first.first, entries };
  }

  async live(
    tenant: TenantId,
    panel: PanelAddress,
    now: number,
    limit: number,
  ): Promise<{ head: number; positions: LivePosition[] }> {
    const rows = await this.#read<{ head: number } & (LivePosition | { rank: null })>(
      tenant,
      'live',
      `SELECT k.head, l.rank, l.position FROM logs k LEFT JOIN LATERAL (
         SELECT rank, position FROM live WHERE tenant = $1 AND (expires_at IS NULL OR expires_at > $2)
           AND (to_all OR $3 = ANY (to_ids) OR to_tags && $4::text[])
         ORDER BY rank DESC, position DESC LIMIT $5
       ) l ON true WHERE k.tenant = $1 ORDER BY l.rank DESC, l.position DESC`,
      [tenant, now, panel.id, panel.tags, limit],
    );
    const positions: LivePosition[] = [];
    for (const row of rows) if (row.rank !== null) positions.push({ rank: row.rank, position: row.position });
    return { head: rows[0]?.head ?? 0, positions };
  }

  async readLive(tenant: TenantId, positions: readonly number[], now: number, chars: number) {
    const rows = await this.#read<
      NotificationRow & AcknowledgedRow & { counted: number | null; nth: number; found: number }
    >(
      tenant,
      'still-live',
      // With what comes behind the limit it would read megabytes for each page of long texts.
      `WITH found AS MATERIALIZED (SELECT * FROM entries_at($1, $2)) SELECT * FROM (
         SELECT ${entryColumns}, s.counted, ${acknowledgedColumns}, w.nth, count(*) OVER () AS found,
           sum(${fewestCharsSql}) OVER (ORDER BY w.nth ROWS UNBOUNDED PRECEDING) - ${fewestCharsSql} AS chars_before
         FROM unnest($2::bigint[]) WITH ORDINALITY AS w (position, nth)
         JOIN found n ON n.position = w.position
         JOIN live l ON l.tenant = n.tenant AND l.rank = n.rank AND l.position = n.position
           AND (l.expires_at IS NULL OR l.expires_at > $3)
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
        count: row.counted ?? 0,
        acknowledged: toAcknowledged(row),
      });
    }
    const last = rows.at(-1);
    if (last && rows.length < last.found) return { notifications, scanned: last.nth };
    return { notifications, scanned: Math.min(positions.length, positionsARead) };
  }

  async find(tenant: TenantId, id: string): Promise<HistoryRecord | undefined> {
    if (!isUuid(id)) return undefined;
    const row = await againIfDropped(async () => {
      const [partition] = await this.#read<Partition>(
        tenant,
        'find-partition',
        'SELECT p.low, p.high FROM find_entry($1, $2) n JOIN partitions p ON n.row >= p.low AND n.row < p.high',
        [tenant, id],
      );
      if (!partition) return undefined;
      const [found] = await this.#read<RecordRow>(
        tenant,
        '',
        recordsIn(
          partition,
          `SELECT * FROM ${logOf(partition)} WHERE id = $2 AND tenant = $1 AND tenant = policy_tenant() AND cleared IS NULL`,
        ),
        [tenant, id],
      );
      return found;
    });
    return row && toRecord(row);
  }

  search(tenant: TenantId, query: Query, options: SearchOptions): Promise<SearchPage> {
    const work = searchLog(this.#lanes, tenant, query, options);
    return this.#lanes.turns.run(tenant, stepsOf(work), options.signal);
  }

  prune(tenant: TenantId, bounds: Omit<RetentionBounds, 'now'>, now: number): Promise<number> {
    const { writes, write } = this.#lanes;
    return dropFromLog(writes, write, tenant, { ...bounds, now });
  }

  async oldestRevision(tenant: TenantId): Promise<number | undefined> {
    const [oldest] = await this.#read<{ revision: number | null }>(
      tenant,
      'oldest-revision',
      `SELECT min(r.revision) AS revision FROM log_revisions r JOIN logs k ON k.tenant = r.tenant
       WHERE r.tenant = $1 AND k.first <= k.head AND coalesce(
         (SELECT high FROM partitions WHERE low <= r.last_row ORDER BY low DESC LIMIT 1), 0) > k.first_row`,
      [tenant],
    );
    return oldest?.revision ?? undefined;
  }

  async size(tenant: TenantId): Promise<{ notifications: number; bytes: number }> {
    const [size] = await this.#read<{ notifications: number; bytes: number }>(
      tenant,
      'size',
      'SELECT notifications, bytes FROM logs WHERE tenant = $1',
      [tenant],
    );
    return size ?? { notifications: 0, bytes: 0 };
  }

  record(tenant: TenantId, panel: PanelAddress, receipts: readonly ReceiptWrite[]) {
    return recordReceipts(this.#lanes.writes, tenant, panel, receipts);
  }

  of(tenant: TenantId, id: string): Promise<readonly ReceiptRow[]> {
    return receiptsOf(this.#lanes.reads, tenant, id);
  }

  firstShown(tenant: TenantId, ids: readonly string[]) {
    return firstShown(this.#lanes.reads, tenant, ids);
  }

  #read<Row>(tenant: TenantId, name: string, text: string, values: readonly unknown[]): Promise<Row[]> {
    return this.#lanes.reads.query<Row>(tenant, name, text, values);
  }
}

/** Positions looked up in one statement. */
const positionsARead = 500;

/** At most what {@link charsBySender} answers: a character has up to four bytes, which are known without unpacking a text. */
const fewestCharsSql = `(octet_length(n.title) + octet_length(n.message) + coalesce(octet_length(n.host), 0)
  + coalesce(octet_length(n.key), 0) + coalesce(octet_length(n.url), 0)) / 4`;
