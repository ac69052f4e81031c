/**
 * Stores the channels and their deliveries, see `DeliveryQueue` in core. The log's writer adds a delivery in the commit of its
 * entry, so neither exists without the other. A node takes the lease of a channel for a minute and renews it with each
 * result. With several nodes, only the database's clock counts for leases. Pending deliveries and finished ones are trimmed to
 * the tenant's limits, the oldest first.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { limits } from '#contract/limits.ts';
import {
  type Delivery,
  type DeliveryQueue,
  longestPauseMs,
  type TrimOptions,
  type WaitingChannel,
} from '#core/channels/channels.ts';
import type { TenantId } from '#core/log/route.ts';
import type { Database, DeliveryRow } from '../database/sql.ts';
import { isActive } from '../people/tenants.ts';

/** Longer than an attempt may take. Another node takes over after this time when a node dies. */
const leaseMs = 60_000;
const waitingAtOnce = 500;
const answerChars = 300;

interface Holder {
  /** The name of this node in leases; `server` if there is only one. */
  readonly name: string;
  /** The database's clock as SQL, if several nodes share the database. Leases use no other clock. */
  readonly clock?: RawBuilder<number> | undefined;
}

export function createDeliveryQueue(db: Database, holder: Holder): DeliveryQueue {
  const clock = (now: number) => holder.clock ?? sql<number>`cast(${now} as bigint)`;
  const select = (tenant: TenantId) => db.selectFrom('deliveries').selectAll().where('tenant', '=', tenant);
  const updateChannel = (tenant: TenantId, id: string) =>
    db.updateTable('channels').where('tenant', '=', tenant).where('id', '=', id);
  const updatePending = (tenant: TenantId, { channel, position }: Delivery) =>
    db
      .updateTable('deliveries')
      .where('tenant', '=', tenant)
      .where('channel', '=', channel)
      .where('position', '=', position)
      .where('state', '=', 'pending');

  /** A pause that would last longer was set by a clock that was ahead. */
  const isPaused = (now: number) => sql<SqlBool>`(retry_at > ${now} and retry_at <= ${now + longestPauseMs})`;

  /** The one way to release a lease. Without a holder, `lease_until` is when the channel was last served. */
  const releaseLease = (tenant: TenantId, channel: string, now: number) =>
    updateChannel(tenant, channel)
      .set({ lease_holder: null, lease_until: clock(now) })
      .where('lease_holder', '=', holder.name);

  return {
    async waiting(now, tenants) {
      const tenantFilter = tenants ? sql`c.tenant in (${sql.join(tenants)})` : sql`1 = 1`;
      const rows = await db.read(
        sql<{ tenant: number; id: string; retry_at: number; leased: number | null }>`
          select tenant, id, retry_at, leased from (
            select c.tenant, c.id, c.lease_until, case when ${isPaused(now)} then c.retry_at else 0 end as retry_at,
              case when c.lease_holder <> ${holder.name} and c.lease_until > ${clock(now)}
                then c.lease_until - ${clock(now)} end as leased
            from channels c where ${tenantFilter} and ${isActive('c.tenant')} and c.enabled = 1 and exists (
              select 1 from deliveries d where d.tenant = c.tenant and d.channel = c.id and d.state = 'pending')) w
          order by case when retry_at = 0 and leased is null then 0 else 1 end,
            case when retry_at = 0 then lease_until else retry_at end
          limit ${waitingAtOnce}`,
      );
      return rows
        .map(
          ({ tenant, id, retry_at, leased }): WaitingChannel => ({
            tenant,
            id,
            readyAt: Math.max(retry_at, leased === null ? 0 : now + leased),
          }),
        )
        .sort((a, b) => a.readyAt - b.readyAt);
    },

    async claim(tenant, channel, now) {
      const [claimed] = await db.write(
        [
          updateChannel(tenant, channel)
            .set({ lease_holder: holder.name, lease_until: sql`${clock(now)} + ${sql.lit(leaseMs)}` })
            .where('enabled', '=', 1)
            .where(isActive('tenant'))
            .where((eb) => eb.not(isPaused(now)))
            .where((eb) =>
              eb.or([
                eb('lease_holder', 'is', null),
                eb('lease_holder', '=', holder.name),
                eb('lease_until', '<=', clock(now)),
              ]),
            ),
        ],
        tenant,
      );
      return claimed?.changes === 1;
    },

    async release(tenant, channel, now) {
      await db.write([releaseLease(tenant, channel, now)], tenant);
    },

    async next(tenant, channel) {
      const [row] = await db.read(
        select(tenant)
          .where('channel', '=', channel)
          .where('state', '=', 'pending')
          .where(isActive('tenant'))
          .orderBy('position')
          .limit(1),
        tenant,
      );
      return row && toDelivery(row);
    },

    async finish(tenant, delivery, { state, answer, isRefused = false, reference }, now) {
      const isDelivered = state === 'delivered';
      const results = await db.write(
        [
          updatePending(tenant, delivery).set({
            state,
            attempts: delivery.attempts + 1,
            finished_at: now,
            answer: cut(answer),
            ...(reference !== undefined && { reference }),
          }),
          updateChannel(tenant, delivery.channel)
            .set({
              lease_until: sql`${clock(now)} + ${sql.lit(leaseMs)}`,
              ...(isDelivered
                ? { failures: 0, failing_since: null, last_delivered_at: now }
                : { last_error: cut(answer) }),
              ...(isRefused && failure(now)),
            })
            .where('lease_holder', '=', holder.name),
          releaseLease(tenant, delivery.channel, now).where(
            sql<SqlBool>`not exists (select 1 from deliveries where tenant = ${tenant} and channel = ${delivery.channel}
              and state = 'pending')`,
          ),
        ],
        tenant,
      );
      return results[1]?.changes === 1 && results[2]?.changes === 0;
    },

    async retry(tenant, delivery, { answer, retryAt, updatedAt }, now) {
      await db.write(
        [
          updatePending(tenant, delivery).set({ attempts: delivery.attempts + 1, answer: cut(answer) }),
          updateChannel(tenant, delivery.channel)
            .set({ ...failure(now), retry_at: retryAt, last_error: cut(answer) })
            .where('lease_holder', '=', holder.name)
            .where('updated_at', '=', updatedAt),
          releaseLease(tenant, delivery.channel, now),
        ],
        tenant,
      );
    },

    trim: (options) => trimDeliveries(db, options),

    async list(tenant, channel, limit) {
      const rows = select(tenant).where('channel', '=', channel).orderBy('position', 'desc').limit(limit);
      return (await db.read(rows, tenant)).map(toDelivery);
    },

    async listByNotification(tenant, notification) {
      const rows = select(tenant)
        .where('notification', '=', notification)
        .orderBy('channel')
        .orderBy('position');
      return (await db.read(rows, tenant)).map(toDelivery);
    },

    async findOpen(tenant, channel, key) {
      const rows = select(tenant)
        .where('open_key', '=', key)
        .where('channel', '=', channel)
        .orderBy('position', 'desc')
        .limit(1);
      const [row] = await db.read(rows, tenant);
      return row && toDelivery(row);
    },

    async pending(tenant) {
      const rows = await db.read(
        sql<{ channel: string; count: number }>`select channel, count(*) as count from deliveries
          where tenant = ${tenant} and state = 'pending' group by channel`,
        tenant,
      );
      return new Map(rows.map(({ channel, count }) => [channel, Number(count)]));
    },
  };
}

const failure = (now: number) => ({
  failures: sql<number>`failures + 1`,
  failing_since: sql<number>`coalesce(failing_since, cast(${now} as bigint))`,
});

const cut = (answer: string) => answer.slice(0, answerChars);

function toDelivery(row: DeliveryRow): Delivery {
  return {
    channel: row.channel,
    position: row.position,
    notification: row.notification,
    event: row.event,
    state: row.state,
    attempts: row.attempts,
    queuedAt: row.queued_at,
    finishedAt: row.finished_at,
    answer: row.answer,
    reference: row.reference,
  };
}

/** Applies the limits of the delivery queue, in short transactions, so that intake comes first. See `DeliveryQueue.trim`. */

/** The channels of one read; each may have 11,000 rows to count. */
const channelsAtOnce = 20;
const rowsAStep = 1_000;
const pauseMs = 20;

/** A position is that of the newest row beyond a limit; null: there is none. */
interface Bounds {
  readonly tenant: TenantId;
  readonly id: string;
  readonly forgotten: number | null;
  readonly overflow: number | null;
  readonly logged: number | null;
  readonly queued: number | null;
  readonly finished: number | null;
}

interface Limited {
  /** In an answer. */
  readonly name: string;
  readonly isPending: RawBuilder<unknown>;
  readonly isFinished: RawBuilder<unknown>;
}

const limited = (name: string, of: RawBuilder<unknown>): Limited => ({
  name,
  isPending: sql`state = 'pending' and ${of}`,
  isFinished: sql`state <> 'pending' and ${of}`,
});

/** Each has the limits for itself: thousands of acknowledgements must not push notifications out of the queue, nor open alerts. */
const allLimited = [
  limited('notifications', sql`event is null`),
  limited('events of alarms', sql`event is not null`),
];

async function trimDeliveries(db: Database, options: TrimOptions): Promise<void> {
  for (const each of allLimited) await trimLimited(db, each, options);
}

async function trimLimited(db: Database, each: Limited, options: TrimOptions): Promise<void> {
  let page: readonly Bounds[] = [];
  do {
    page = await readBounds(db, each, page.at(-1) ?? { tenant: 0, id: '' });
    for (const bounds of page) {
      const failed = await trim(db, { ...bounds, ...each }, options);
      if (failed > 0) options.onFailed(bounds.tenant, failed);
    }
  } while (page.length === channelsAtOnce && !options.signal?.aborted);
}

function readBounds(
  db: Database,
  { isPending, isFinished }: Limited,
  after: Pick<Bounds, 'tenant' | 'id'>,
): Promise<Bounds[]> {
  const selectDelivery = (column: string, rest: RawBuilder<unknown>) =>
    sql`(select ${sql.ref(column)} from deliveries d where d.tenant = c.tenant and d.channel = c.id ${rest})`;
  const beyond = (state: RawBuilder<unknown>, kept: number) =>
    selectDelivery('position', sql`and ${state} order by position desc limit 1 offset ${sql.lit(kept)}`);
  return db.read(
    sql<Bounds>`select c.tenant, c.id,
        ${beyond(isPending, limits.pendingPerChannel + limits.deliveryLog)} as forgotten,
        ${beyond(isPending, limits.pendingPerChannel)} as overflow,
        ${beyond(isFinished, limits.deliveryLog)} as logged,
        ${selectDelivery('queued_at', sql`and ${isPending} order by position limit 1`)} as queued,
        ${selectDelivery('finished_at', sql`and ${isFinished} order by position limit 1`)} as finished
      from channels c where c.tenant > ${after.tenant} or (c.tenant = ${after.tenant} and c.id > ${after.id})
      order by c.tenant, c.id limit ${sql.lit(channelsAtOnce)}`,
  );
}

/** Returns how many failed. */
async function trim(
  db: Database,
  bounds: Bounds & Limited,
  { now, trustedNow, signal }: TrimOptions,
): Promise<number> {
  const { tenant, id, forgotten, overflow, logged, queued, finished } = bounds;
  const { name, isPending, isFinished } = bounds;
  const inSteps = async (statement: RawBuilder<unknown>, which: RawBuilder<unknown>) => {
    let all = 0;
    while (!signal?.aborted) {
      const [step] = await db.write(
        [
          // A bound and not a list of positions: without statistics PostgreSQL compares each row with every item of a list.
          sql`${statement} where tenant = ${tenant} and channel = ${id} and ${which} and position <= (
          select max(position) from (select position from deliveries where tenant = ${tenant} and channel = ${id}
            and ${which} order by position limit ${sql.lit(rowsAStep)}) step)`,
        ],
        tenant,
      );
      all += step?.changes ?? 0;
      if ((step?.changes ?? 0) < rowsAStep) break;
      await sleep(pauseMs, undefined, { ref: false });
    }
    return all;
  };
  const remove = sql`delete from deliveries`;
  const fail = (answer: RawBuilder<unknown>) =>
    sql`update deliveries set state = 'failed', finished_at = cast(${now} as bigint), answer = ${answer}`;
  let failed = 0;
  // These exceed the limit of finished deliveries too, so they are deleted without an answer.
  if (forgotten !== null) failed += await inSteps(remove, sql`${isPending} and position <= ${forgotten}`);
  if (overflow !== null) {
    const answer = sql.lit(
      `more than ${limits.pendingPerChannel} ${name} were waiting, and this was the oldest`,
    );
    failed += await inSteps(fail(answer), sql`${isPending} and position <= ${overflow}`);
  }
  const tooOld = trustedNow - limits.deliveryMs;
  if (queued !== null && queued < tooOld) {
    const answer = sql`substr('given up after 24 hours' || coalesce('; the last attempt: ' || answer, ''), 1, 300)`;
    failed += await inSteps(fail(answer), sql`${isPending} and queued_at < ${tooOld}`);
  }
  if (failed > 0 || logged !== null) {
    const newest = sql`select position from deliveries where tenant = ${tenant} and channel = ${id} and ${isFinished}
      order by position desc limit 1 offset ${sql.lit(limits.deliveryLog)}`;
    await inSteps(remove, sql`${isFinished} and position <= (${newest})`);
  }
  const forgetBefore = trustedNow - limits.deliveryLogMs;
  if (finished !== null && finished < forgetBefore)
    await inSteps(remove, sql`${isFinished} and finished_at < ${forgetBefore}`);
  return failed;
}
