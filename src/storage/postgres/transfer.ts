import { sql } from 'kysely';
import pg from 'pg';
import { AppError } from '#core/errors.ts';
import type { TenantId } from '#core/log/route.ts';
import { indexTerms } from '#core/search/index-terms.ts';
import type { Database } from '../database/sql.ts';
import type { Storage } from '../database/storage.ts';
import { isShown, storedChange, suppressKeysOf } from '../log/history-rows.ts';
import { type TransferDatabase, type TransferEntry, timeOf } from '../transfer.ts';
import { isLockTimeout, toAppError } from './errors.ts';
import { fieldsOf } from './log/append-queue.ts';
import { partitionRows } from './log/partitions.ts';
import { rowBytesSql } from './log/rows.ts';
import { AlarmImport, type Estates, type LiveMemory, newMemory, type PlacedRow } from './transfer-alarms.ts';

/**
 * @throws AppError `conflict` while a node runs on the database, or another transfer.
 */
export async function openPostgresTransfer(storage: Storage, url: string): Promise<TransferDatabase> {
  const { db, history } = storage;
  const running = await db.read(sql`select 1 from nodes where alive_until > now()`);
  if (running.length > 0)
    throw new AppError('conflict', 'a Belfry node runs on the PostgreSQL database: stop all of them first');
  const release = await holdLock(url);
  const estates: Estates = new Map();
  return {
    db,
    history,
    importPage: (tenant, page) => importPage({ db, estates }, tenant, page),

    async afterTenants() {
      await db.write([
        sql`select setval(pg_get_serial_sequence('tenants', 'id'), greatest(1, (select max(id) from tenants)))`,
      ]);
    },

    storedId: { toText: String, fromText: (id) => id },

    async close() {
      await storage.close();
      await release();
    },
  };
}

/** Names the advisory lock of transfers. PostgreSQL releases it when the process ends. */
const lock = 0x62656c67;

/** Returns how to release it. @throws AppError `conflict` while another transfer holds it. */
async function holdLock(url: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url, application_name: 'belfry', keepAlive: true });
  // Without the connection, the statements of the transfer fail, too.
  client.on('error', () => undefined);
  try {
    await client.connect();
    // A process that was killed may hold it for a moment more.
    await client.query("SET lock_timeout = '2s'");
    await client.query('SELECT pg_advisory_lock($1)', [lock]);
  } catch (error) {
    await client.end().catch(() => undefined);
    if (!isLockTimeout(error)) throw toAppError(error);
    throw new AppError(
      'conflict',
      'another belfry migrate runs on the PostgreSQL database: wait for its end, or stop it',
    );
  }
  return () => client.end();
}

/** A new partition has no statistics: the planner would read all of it to find one id. */
const settings = sql`select set_config(name, value, true) from (values
  ('work_mem', '128MB'), ('enable_seqscan', 'off')) as s (name, value)`;

/** Takes rows for a page, the last of them `last`, and finds the notifications of earlier pages that it is about. */
async function reserve(
  db: Database,
  tenant: TenantId,
  rows: number,
  ids: readonly string[],
): Promise<{ readonly last: number; readonly found: Iterable<PlacedRow> }> {
  const [, reserved, , found] = await db.write([
    settings,
    sql`select setval('log_row', nextval('log_row') + ${rows - 1}) as last`,
    sql`select make_partitions(${partitionRows}, 0)`,
    sql`select g.id, g.tenant, g.row, g.rank, g.position, g.level, g.at, coalesce(s.counted, 0) as counted,
        l.row is not null as is_live, l.since, l.earlier, l.highest_level, l.highest_rank, l.owner, l.shelved, l.returns_at, l.follows, l.suppressed
      from find_entries(${tenant}, ${ids}::uuid[]) g left join lateral states_of(g.tenant, array[g.row]) s on true
      left join live l on l.tenant = g.tenant and l.rank = g.rank and l.position = g.position`,
  ]);
  const known = (found?.rows ?? []) as unknown as FoundRow[];
  return { last: Number(reserved?.rows[0]?.last), found: known.map(toPlaced) };
}

type FoundRow = Omit<PlacedRow, 'live'> & LiveMemory & { readonly at: number; readonly is_live: boolean };

function toPlaced({
  at,
  is_live,
  since,
  earlier,
  highest_level,
  highest_rank,
  owner,
  shelved,
  returns_at,
  follows,
  suppressed,
  ...place
}: FoundRow): PlacedRow {
  const memory = {
    ...{ earlier, highest_level, highest_rank, owner },
    ...{ shelved, returns_at, follows, suppressed },
  };
  return { ...place, live: is_live ? { ...newMemory(since ?? at), ...memory } : null };
}

/** What entries say of a notification before them. */
interface StateRow {
  readonly row: number;
  readonly tenant: TenantId;
  cleared_at?: number;
  cleared_by?: string;
  cleared_reason?: string;
  counted: number;
}

async function importPage(
  { db, estates }: { readonly db: Database; readonly estates: Estates },
  tenant: TenantId,
  page: readonly TransferEntry[],
): Promise<void> {
  const about = page.flatMap(({ entry }) =>
    entry.kind === 'notification'
      ? (entry.throttledOn ?? [])
      : entry.kind === 'clear' && entry.reason === 'replaced'
        ? [entry.id, entry.by]
        : entry.id,
  );
  const { last, found } = await reserve(db, tenant, page.length, [...new Set(about)]);
  const placed = new Map<string, PlacedRow>();
  for (const each of found) placed.set(each.id, each);
  const base = last - (page.at(-1)?.entry.position ?? 0);
  const log: object[] = [];
  const live: object[] = [];
  const receiptRows: object[] = [];
  const alarms = new AlarmImport(estates);
  const lastEntry = page.at(-1)?.entry;
  const lastAt = lastEntry ? timeOf(lastEntry) : 0;
  const takenOff: PlacedRow[] = [];
  const states = new Map<number, StateRow>();
  const stateOf = ({ row }: PlacedRow): StateRow => {
    const state = states.get(row) ?? { row, tenant, counted: 0 };
    states.set(row, state);
    return state;
  };
  for (const { entry, receipts } of page) {
    const { position, id, route } = entry;
    const place = { row: base + position, tenant, position, id };
    if (entry.kind === 'notification') {
      const { rank, key, ttl, expiresAt: expires_at, throttledOn, throttleCount, receivedAt: at } = entry;
      const memory = alarms.begin(entry);
      const isLive = isShown(entry);
      placed.set(id, { ...place, rank, level: entry.level, counted: 0, live: isLive ? memory : null });
      const own = { at, route, ttl, expires_at, throttled_on: throttledOn, throttle_count: throttleCount };
      log.push({ ...place, ...own, ...fieldsOf(entry), terms: asVector(indexTerms(tenant, entry, route)) });
      const { all: to_all, ids: to_ids, tags: to_tags } = route.target;
      if (isLive) {
        live.push({ ...place, rank, expires_at, key, to_all, to_ids, to_tags, ...memory });
        for (const cause of suppressKeysOf(entry, route).causes)
          alarms.causes.push({ ...place, ...cause, rank, revision: route.revision, is_new: true });
      }
      const counts = throttledOn === null ? undefined : placed.get(throttledOn);
      if (counts) stateOf(counts).counted += 1;
      for (const { panelId: panel_id, shownAt, inGroup, expiredAt, clearedAt } of receipts)
        receiptRows.push({
          ...place,
          panel_id,
          shown_at: shownAt,
          in_group: inGroup || null,
          expired_at: expiredAt,
          cleared_at: clearedAt,
        });
      continue;
    }
    const { at, by } = entry;
    const of = placed.get(id);
    const cleared = of?.position ?? 0;
    if (entry.kind === 'clear') {
      const { reason, note: message } = entry;
      log.push({ ...place, at, route, cleared, by, reason, message });
      if (!of) continue;
      alarms.clear(of, entry, placed.get(by), of.counted + stateOf(of).counted);
      takenOff.push(of);
      Object.assign(stateOf(of), { cleared_at: at, cleared_by: by, cleared_reason: reason });
    } else {
      const { reason, note: message, until: expires_at } = storedChange(entry);
      log.push({ ...place, at, route, cleared, by, reason, message, expires_at });
      if (of) alarms.change(of, entry);
    }
  }
  const stored = sql`from log where tenant = ${tenant} and row > ${last - page.length} and row <= ${last} and cleared is null`;
  await db.write([
    settings,
    insertion('log', log),
    insertion('live', live),
    insertion('alarm_causes', alarms.causes),
    insertion('receipts', receiptRows),
    ...alarmStatements(alarms),
    sql`delete from live l using ${records('live', takenOff)} t where l.tenant = t.tenant and l.rank = t.rank and l.position = t.position`,
    sql`delete from live where tenant = ${tenant} and expires_at <= ${lastAt}`,
    sql`${insertion('log_state', [...states.values()])} on conflict (row) do update set counted = log_state.counted + excluded.counted,
      cleared_at = coalesce(excluded.cleared_at, log_state.cleared_at), cleared_by = coalesce(excluded.cleared_by, log_state.cleared_by),
      cleared_reason = coalesce(excluded.cleared_reason, log_state.cleared_reason)`,
    sql`insert into minutes (tenant, minute, level, count) select tenant, at / 60000, level, count(*) ${stored} group by 1, 2, 3
      on conflict (tenant, minute, level) do update set count = minutes.count + excluded.count`,
    sql`insert into log_revisions (tenant, revision, last_row) select tenant, (route -> 'revision')::bigint, max(row) ${stored} group by 1, 2
      on conflict (tenant, revision) do update set last_row = excluded.last_row`,
    sql`update logs set head = logs.head + ${page.length}, notifications = logs.notifications + s.notifications, bytes = logs.bytes + s.bytes
      from (select count(*) as notifications, coalesce(sum(${sql.raw(rowBytesSql)}), 0) as bytes ${stored}) s where logs.tenant = ${tenant}`,
  ]);
}

function alarmStatements({ changed, acknowledged, listed }: AlarmImport) {
  const rows = [...acknowledged.keys()].map(({ tenant, row }) => ({ tenant, row }));
  const given = [...acknowledged].flatMap(([{ tenant, row }, entry]) =>
    entry ? [{ ...entry, tenant, row }] : [],
  );
  const live = [...changed].map(({ tenant, rank, position, live }) => ({ ...live, tenant, rank, position }));
  return [
    sql`delete from acknowledgements a using ${records('acknowledgements', rows)} t where a.tenant = t.tenant and a.row = t.row`,
    insertion('acknowledgements', given),
    insertion('alarm_entries', listed),
    sql`update live l set since = t.since, earlier = t.earlier, highest_level = t.highest_level, highest_rank = t.highest_rank,
      owner = t.owner, shelved = t.shelved, suppressed = t.suppressed, returns_at = t.returns_at from ${records('live', live)} t
      where l.tenant = t.tenant and l.rank = t.rank and l.position = t.position`,
  ];
}

/** As rows of a table, whose columns are the keys; a column that is not given is null. */
const records = (table: string, rows: readonly object[]) =>
  sql`json_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(rows)})`;

const insertion = (table: string, rows: readonly object[]) =>
  sql`insert into ${sql.table(table)} select * from ${records(table, rows)}`;

/** Terms with spaces between them, as the text of a `tsvector`. */
const asVector = (terms: string) => terms.replaceAll(/['\\]/g, '$&$&').replaceAll(/[^ ]+/g, "'$&'");
