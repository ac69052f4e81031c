/** Applies the limits of the delivery queue, in short transactions, so that intake comes first. See `DeliveryQueue.trim`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { limits } from '#contract/limits.ts';
import type { TrimOptions } from '#core/channels/channels.ts';
import type { TenantId } from '#core/ports.ts';
import type { Database } from '../sql.ts';

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

const isPending = sql`state = 'pending'`;
const isFinished = sql`state <> 'pending'`;

export async function trimDeliveries(db: Database, options: TrimOptions): Promise<void> {
  let page: readonly Bounds[] = [];
  do {
    page = await readBounds(db, page.at(-1) ?? { tenant: 0, id: '' });
    for (const bounds of page) {
      const failed = await trim(db, bounds, options);
      if (failed > 0) options.onFailed(bounds.tenant, failed);
    }
  } while (page.length === channelsAtOnce && !options.signal?.aborted);
}

function readBounds(db: Database, after: Pick<Bounds, 'tenant' | 'id'>): Promise<Bounds[]> {
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
        ${selectDelivery('finished_at', sql`order by position limit 1`)} as finished
      from channels c where c.tenant > ${after.tenant} or (c.tenant = ${after.tenant} and c.id > ${after.id})
      order by c.tenant, c.id limit ${sql.lit(channelsAtOnce)}`,
  );
}

/** Returns how many failed. */
async function trim(db: Database, bounds: Bounds, { now, trustedNow, signal }: TrimOptions): Promise<number> {
  const { tenant, id, forgotten, overflow, logged, queued, finished } = bounds;
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
      `more than ${limits.pendingPerChannel} notifications were waiting, and this was the oldest`,
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
