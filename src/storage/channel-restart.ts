/** What a change that may have mended a channel does to its queue. */
import { type CompiledQuery, type Expression, type SqlBool, sql } from 'kysely';
import { limits } from '#contract/limits.ts';
import type { TenantId } from '#core/ports.ts';
import type { Builder } from './schema.ts';

interface Changed {
  readonly tenant: TenantId;
  readonly id: string;
  readonly at: number;
}

/** It is attempted at once, and an attempt that is under way no longer makes it rest. */
export const restarted = (at: number) => ({ updated_at: at, retry_at: 0, failures: 0, failing_since: null });

/** What failed while the channel was failing is tried again: what was changed may have been what was wrong. */
export function tryFailedAgain(
  db: Builder,
  { tenant, id, at }: Changed,
  when: Expression<SqlBool>,
): CompiledQuery {
  return db
    .updateTable('deliveries')
    .set({ state: 'pending', attempts: 0, finished_at: null })
    .where('tenant', '=', tenant)
    .where('channel', '=', id)
    .where('state', '=', 'failed')
    .where('queued_at', '>', at - limits.deliveryMs)
    .where(
      sql<SqlBool>`finished_at >= (select failing_since from channels where tenant = ${tenant} and id = ${id})`,
    )
    .where(when)
    .compile();
}

/** As after a change of its settings. */
export function restart(db: Builder, changed: Changed, when: Expression<SqlBool>): readonly CompiledQuery[] {
  const { tenant, id, at } = changed;
  return [
    tryFailedAgain(db, changed, when),
    db
      .updateTable('channels')
      .set(restarted(at))
      .where('tenant', '=', tenant)
      .where('id', '=', id)
      .where(when)
      .compile(),
  ];
}
