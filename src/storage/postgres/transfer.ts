import { sql } from 'kysely';
import pg from 'pg';
import { AppError } from '#core/errors.ts';
import type { TenantId } from '#core/ports.ts';
import { acknowledgedReason, columnList } from '../log/history-rows.ts';
import type { Storage } from '../storage.ts';
import {
  isLasting,
  type TransferDatabase,
  type TransferPage,
  type TransferReceipt,
} from '../transfer/transfer-database.ts';
import { isLockTimeout, toAppError } from './errors.ts';
import { toJob } from './log/append-queue.ts';
import { partitionRows } from './log/partitions.ts';

/**
 * @throws AppError `conflict` while a node runs on the database, or another transfer.
 */
export async function openPostgresTransfer(storage: Storage, url: string): Promise<TransferDatabase> {
  const { db, history } = storage;
  const running = await db.read(sql`select 1 from nodes where alive_until > now()`);
  if (running.length > 0)
    throw new AppError('conflict', 'a Belfry node runs on the PostgreSQL database: stop all of them first');
  const release = await holdLock(url);
  return {
    db,
    log: history,

    async receiptsOf(tenant, entries) {
      const [first, last] = [entries[0]?.position ?? 0, entries.at(-1)?.position ?? -1];
      return db.read(
        sql<TransferReceipt>`select n.id, r.panel_id as "panelId", r.shown_at as "shownAt", r.expired_at as "expiredAt",
            r.cleared_at as "clearedAt"
          from read_after(${tenant}, ${first - 1}, ${last - first + 1}) n
          cross join lateral (select * from receipts where row = n.row offset 0) r where n.cleared is null
          order by n.position, r.panel_id`,
      );
    },

    prepareImport(tenant, page, now) {
      const given = toImport(tenant, page, now);
      return async () => {
        const { entries } = page;
        const [rows] = await db.read(
          sql<{
            last: number;
          }>`select setval('log_row', nextval('log_row') + ${entries.length - 1}) as last`,
        );
        const base = (rows?.last ?? 0) - (entries.at(-1)?.position ?? 0);
        await db.write([
          sql.raw(settings),
          sql`select make_partitions(${partitionRows}, 0)`,
          ...importing(tenant, base, given),
        ]);
      };
    },

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

/** As JSON; what is undefined has nothing to store. */
function toImport(tenant: TenantId, { entries, receipts }: TransferPage, now: number) {
  const jobs = [];
  const changes = [];
  const counted = new Map<string, number>();
  // Many notifications have the same one: each is sent once.
  const routes = new Map<string, number>();
  for (const entry of entries) {
    if (entry.kind !== 'notification') {
      changes.push(entry.kind === 'clear' ? entry : { ...entry, reason: acknowledgedReason });
      continue;
    }
    const route = JSON.stringify(entry.route);
    const decision = routes.get(route) ?? routes.size;
    routes.set(route, decision);
    const job = toJob({ tenant, draft: entry, idempotency: null, claims: [] }, entry.position, decision);
    jobs.push({ ...job, shown: job.shown && isLasting(entry, now) });
    const { throttledOn: on } = entry;
    if (on !== null) counted.set(on, (counted.get(on) ?? 0) + 1);
  }
  const positions = new Map(jobs.map(({ id, n }) => [id, n]));
  return {
    notifications: JSON.stringify(jobs),
    routes: `[${[...routes.keys()].join()}]`,
    receipts: JSON.stringify(receipts.map(({ id, ...receipt }) => ({ ...receipt, n: positions.get(id) }))),
    changes: changes.length === 0 ? undefined : JSON.stringify(changes),
    counted:
      counted.size === 0 ? undefined : JSON.stringify(Array.from(counted, ([id, count]) => ({ id, count }))),
  };
}

const columns = sql.raw(columnList.map(([, { column }]) => column).join(', '));

/** Of one page's transaction. A new partition has no statistics: the planner would read all of it to find one id. */
const settings = `select set_config(name, value, true) from (values
  ('work_mem', '128MB'), ('enable_seqscan', 'off')) as s (name, value)`;

/** What stores a page of which the entry at a position gets the row `base` and that. What follows from entries is made here. */
function importing(tenant: TenantId, base: number, given: ReturnType<typeof toImport>) {
  const { notifications, routes, receipts, changes, counted } = given;
  const statements = [
    sql`with job as materialized (
        select ${base}::bigint + n as row, ${tenant}::bigint as tenant, ${routes}::jsonb -> decision as route, j.*
        from json_to_recordset(${notifications}) as j (n bigint, decision integer, id uuid, at bigint, shown boolean,
          ttl bigint, expires_at bigint, throttled_on uuid, throttle_count bigint, fields log_fields, terms text, bytes bigint)
      ),
      stored as (
        insert into log (row, tenant, position, id, at, route, ttl, expires_at, throttled_on, throttle_count, terms, ${columns})
        select row, tenant, n, id, at, route, ttl, expires_at, throttled_on, throttle_count,
          array_to_tsvector(string_to_array(terms, ' ')), (fields).* from job
      ),
      shown as (
        insert into live (tenant, rank, position, row, id, expires_at, key, to_all, to_ids, to_tags)
        select tenant, (fields).rank, n, row, id, expires_at, (fields).key, (target -> 'all')::boolean,
          array(select jsonb_array_elements_text(target -> 'ids')), array(select jsonb_array_elements_text(target -> 'tags'))
        from job, lateral (select route -> 'target' as target) t where shown
      ),
      received as (
        insert into receipts (row, tenant, panel_id, shown_at, expired_at, cleared_at)
        select ${base}::bigint + n, ${tenant}::bigint, "panelId", "shownAt", "expiredAt", "clearedAt" from json_to_recordset(${receipts})
          as r (n bigint, "panelId" text, "shownAt" bigint, "expiredAt" bigint, "clearedAt" bigint)
      ),
      counted_minutes as (
        insert into minutes (tenant, minute, level, count)
        select tenant, at / 60000, (fields).level, count(*) from job group by 1, 2, 3
        on conflict (tenant, minute, level) do update set count = minutes.count + excluded.count
      ),
      revisions as (
        insert into log_revisions (tenant, revision, last_row)
        select tenant, (route -> 'revision')::bigint, max(row) from job group by 1, 2
        on conflict (tenant, revision) do update set last_row = excluded.last_row
      )
      update logs set head = head + (select count(*) from job), notifications = notifications + (select count(*) from job),
        bytes = bytes + (select coalesce(sum(bytes), 0) from job) where tenant = ${tenant}`,
  ];
  if (changes !== undefined)
    statements.push(sql`with change as materialized (
        select * from json_to_recordset(${changes}) as c (position bigint, id uuid, at bigint, route jsonb, "by" text, reason text, note text)
      ),
      found as materialized (
        select c.*, g.row as of_row, g.rank as of_rank, g.position as of_position
        from change c left join find_entries(${tenant}, array(select distinct id from change)) g on g.id = c.id
      ),
      stored as (
        insert into log (row, tenant, position, id, at, route, cleared, "by", reason, message)
        select ${base}::bigint + position, ${tenant}::bigint, position, id, at, route, coalesce(of_position, 0), "by", reason, note from found
      ),
      taken_off as (
        delete from live l using found f where l.tenant = ${tenant} and l.rank = f.of_rank and l.position = f.of_position
          and f.reason <> ${acknowledgedReason}
      ),
      cleared as (
        insert into log_state (row, tenant, cleared_at, cleared_by, cleared_reason)
        select of_row, ${tenant}::bigint, at, "by", reason from found where of_row is not null and reason <> ${acknowledgedReason}
        on conflict (row) do update set cleared_at = excluded.cleared_at, cleared_by = excluded.cleared_by,
          cleared_reason = excluded.cleared_reason
      ),
      acknowledged as (
        insert into acknowledgements (tenant, row, at, "by", note)
        select ${tenant}::bigint, of_row, at, "by", note from found where of_row is not null and reason = ${acknowledgedReason}
        on conflict do nothing
      )
      update logs set head = head + (select count(*) from change) where tenant = ${tenant}`);
  if (counted !== undefined)
    statements.push(sql`with wanted as materialized (select * from json_to_recordset(${counted}) as w (id uuid, count bigint))
      insert into log_state (row, tenant, counted)
      select g.row, ${tenant}::bigint, w.count from find_entries(${tenant}, array(select id from wanted)) g join wanted w on w.id = g.id
      on conflict (row) do update set counted = log_state.counted + excluded.counted`);
  return statements;
}
