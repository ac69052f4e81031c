import type { TenantId } from '#core/ports.ts';
import type { Statements } from './partitions.ts';
import type { DraftRow } from './rows.ts';

interface Queued extends Pick<DraftRow, 'id' | 'receivedAt' | 'throttledOn'> {
  readonly position: number;
  /** Those that its route names: one that is deleted or disabled gets nothing. */
  readonly channels: readonly string[];
}

/** Queues a notification for its channels, inside the writer's transaction; what a throttle counted goes to none. */
export function queueDeliveries(
  statements: Statements,
  tenant: TenantId,
  { id, receivedAt, throttledOn, position, channels }: Queued,
): void {
  if (throttledOn !== null) return;
  const queue = statements.of(
    `INSERT INTO deliveries (tenant, channel, position, notification, state, queued_at)
     SELECT tenant, id, ?, ?, 'pending', ? FROM channels WHERE tenant = ? AND id = ? AND enabled = 1`,
  );
  for (const channel of channels) queue.run(position, id, receivedAt, tenant, channel);
}
