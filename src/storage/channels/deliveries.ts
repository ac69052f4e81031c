/** Stores the deliveries of channels, see `DeliveryQueue`. The log's writer adds them, with their notification. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  type Delivery,
  type DeliveryQueue,
  longestPauseMs,
  type WaitingChannel,
} from '#core/channels/channels.ts';
import type { TenantId } from '#core/ports.ts';
import { isActive } from '../people/tenants.ts';
import type { DeliveryRow } from '../schema.ts';
import type { Database } from '../sql.ts';
import { trimDeliveries } from './delivery-bounds.ts';

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

    async finish(tenant, delivery, { state, answer, isRefused = false }, now) {
      const isDelivered = state === 'delivered';
      const results = await db.write(
        [
          updatePending(tenant, delivery).set({
            state,
            attempts: delivery.attempts + 1,
            finished_at: now,
            answer: cut(answer),
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
      const rows = select(tenant).where('notification', '=', notification).orderBy('channel');
      return (await db.read(rows, tenant)).map(toDelivery);
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
    state: row.state,
    attempts: row.attempts,
    queuedAt: row.queued_at,
    finishedAt: row.finished_at,
    answer: row.answer,
  };
}
