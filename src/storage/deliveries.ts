/** The queue of what channels are to deliver: see `DeliveryQueue`. The log's writer adds to it. */
import { type RawBuilder, sql } from 'kysely';
import { limits } from '#contract/limits.ts';
import type { Delivery, DeliveryQueue, WaitingChannel } from '#core/channels.ts';
import type { TenantId } from '#core/ports.ts';
import type { Builder, DeliveryRow } from './schema.ts';
import type { SqlExecutor } from './sql.ts';

/** Longer than an attempt may take; a node that dies is replaced after it. */
const leaseMs = 60_000;
const waitingAtOnce = 500;
const answerChars = 300;

interface Holder {
  /** Who holds leases: a node of several, or `server` where there is one. */
  readonly name: string;
  /** The database's clock as SQL, where nodes share it; leases go by it alone. */
  readonly clock?: RawBuilder<number> | undefined;
}

export function createDeliveryQueue(db: Builder, executor: SqlExecutor, holder: Holder): DeliveryQueue {
  const clock = (now: number) => holder.clock ?? sql<number>`cast(${now} as bigint)`;
  const of = (tenant: TenantId) => db.selectFrom('deliveries').selectAll().where('tenant', '=', tenant);
  const ofChannel = (tenant: TenantId, id: string) =>
    db.updateTable('channels').where('tenant', '=', tenant).where('id', '=', id);
  const ofDelivery = (tenant: TenantId, { channel, position }: Delivery) =>
    db
      .updateTable('deliveries')
      .where('tenant', '=', tenant)
      .where('channel', '=', channel)
      .where('position', '=', position)
      .where('state', '=', 'pending');

  return {
    async waiting(now) {
      const rows = await executor.read(
        sql<{ tenant: number; id: string; retry_at: number; leased: number | null }>`
          select c.tenant, c.id, c.retry_at,
            case when c.lease_holder <> ${holder.name} then c.lease_until - ${clock(now)} end as leased
          from channels c where c.enabled = 1 and exists (
            select 1 from deliveries d where d.tenant = c.tenant and d.channel = c.id and d.state = 'pending')
          order by c.retry_at limit ${waitingAtOnce}`.compile(db),
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
      const [claimed] = await executor.write([
        ofChannel(tenant, channel)
          .set({ lease_holder: holder.name, lease_until: sql`${clock(now)} + ${sql.lit(leaseMs)}` })
          .where('enabled', '=', 1)
          .where('retry_at', '<=', now)
          .where((eb) =>
            eb.or([
              eb('lease_holder', 'is', null),
              eb('lease_holder', '=', holder.name),
              eb('lease_until', '<=', clock(now)),
            ]),
          )
          .compile(),
      ]);
      return claimed?.changes === 1;
    },

    async release(tenant, channel) {
      await executor.write([
        ofChannel(tenant, channel)
          .set({ lease_holder: null, lease_until: 0 })
          .where('lease_holder', '=', holder.name)
          .compile(),
      ]);
    },

    async next(tenant, channel) {
      const [row] = await executor.read(
        of(tenant)
          .where('channel', '=', channel)
          .where('state', '=', 'pending')
          .orderBy('position')
          .limit(1)
          .compile(),
      );
      return row && toDelivery(row);
    },

    async finish(tenant, delivery, { state, answer }, now) {
      const isDelivered = state === 'delivered';
      const results = await executor.write([
        ofDelivery(tenant, delivery)
          .set({ state, attempts: delivery.attempts + 1, finished_at: now, answer: cut(answer) })
          .compile(),
        ofChannel(tenant, delivery.channel)
          .set({
            lease_until: sql`${clock(now)} + ${sql.lit(leaseMs)}`,
            ...(isDelivered
              ? { failures: 0, failing_since: null, last_delivered_at: now }
              : { last_error: cut(answer) }),
          })
          .where('lease_holder', '=', holder.name)
          .compile(),
      ]);
      return results[1]?.changes === 1;
    },

    async retry(tenant, delivery, { answer, retryAt }, now) {
      await executor.write([
        ofDelivery(tenant, delivery)
          .set({ attempts: delivery.attempts + 1, answer: cut(answer) })
          .compile(),
        ofChannel(tenant, delivery.channel)
          .set({
            failures: sql`failures + 1`,
            failing_since: sql`coalesce(failing_since, cast(${now} as bigint))`,
            retry_at: retryAt,
            last_error: cut(answer),
          })
          .where('lease_holder', '=', holder.name)
          .compile(),
      ]);
    },

    trim: (tenant, channel, now) => trim(db, executor, { tenant, channel, now }),

    async list(tenant, channel, limit) {
      const rows = of(tenant).where('channel', '=', channel).orderBy('position', 'desc').limit(limit);
      return (await executor.read(rows.compile())).map(toDelivery);
    },

    async of(tenant, notification) {
      const rows = of(tenant).where('notification', '=', notification).orderBy('channel');
      return (await executor.read(rows.compile())).map(toDelivery);
    },

    async pending(tenant) {
      const rows = await executor.read(
        sql<{ channel: string; count: number }>`select channel, count(*) as count from deliveries
          where tenant = ${tenant} and state = 'pending' group by channel`.compile(db),
      );
      return new Map(rows.map(({ channel, count }) => [channel, Number(count)]));
    },
  };
}

/** As {@link DeliveryQueue.trim}. Each bound is the position of the newest row that is too many. */
async function trim(
  db: Builder,
  executor: SqlExecutor,
  { tenant, channel, now }: { readonly tenant: TenantId; readonly channel: string; readonly now: number },
): Promise<number> {
  const beyond = (state: RawBuilder<unknown>, kept: number) => sql`coalesce((select position from deliveries
    where tenant = ${tenant} and channel = ${channel} and ${state} order by position desc limit 1 offset ${kept}), 0)`;
  const isPending = sql`state = 'pending'`;
  const isFinished = sql`state <> 'pending'`;
  const [failed] = await executor.write([
    sql`update deliveries set state = 'failed', finished_at = ${now},
        answer = ${`more than ${limits.pendingPerChannel} notifications were waiting, and this was the oldest`}
      where tenant = ${tenant} and channel = ${channel} and ${isPending}
        and position <= ${beyond(isPending, limits.pendingPerChannel)}`.compile(db),
    sql`delete from deliveries where tenant = ${tenant} and channel = ${channel} and ${isFinished}
      and (finished_at < ${now - limits.deliveryLogMs} or position <= ${beyond(isFinished, limits.deliveryLog)})`.compile(
      db,
    ),
  ]);
  return failed?.changes ?? 0;
}

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
