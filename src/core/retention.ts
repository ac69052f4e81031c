import type { Directory, TenantRecord } from './directory.ts';
import type { Bus, History } from './ports.ts';

export interface RetentionOptions {
  readonly directory: Pick<Directory, 'tenants'>;
  readonly history: Pick<History, 'prune'>;
  readonly bus: Pick<Bus, 'publish'>;
  /** What applies where a tenant has set nothing. */
  readonly days: number | 'off';
  readonly count: number | 'off';
  readonly now: () => number;
}

const dayMs = 86_400_000;
/** Between two chunks: intake comes first. */
const pauseMs = 20;

/** Drops what no tenant's retention keeps any more, in small chunks; resolves when there is no more to drop, or when told to stop. */
export async function enforceRetention(options: RetentionOptions, stopped: () => boolean): Promise<void> {
  for (const tenant of await options.directory.tenants.list()) {
    const keep = bound(tenant.retentionCount, options.count);
    const days = bound(tenant.retentionDays, options.days);
    if (keep === null && days === null) continue;
    await pruneTenant(options, tenant, keep, days, stopped);
  }
}

async function pruneTenant(
  { history, bus, now }: RetentionOptions,
  { id }: TenantRecord,
  keep: number | null,
  days: number | null,
  stopped: () => boolean,
): Promise<void> {
  while (!stopped()) {
    const at = now();
    const dropped = await history.prune(
      id,
      { olderThan: days === null ? null : at - days * dayMs, keep },
      at,
    );
    if (dropped === 0) return;
    // Those that were still on panels have been cleared by entries of their own: ring for them.
    bus.publish(id, []);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

function bound(own: number | 'off' | null, server: number | 'off'): number | null {
  const value = own ?? server;
  return value === 'off' ? null : value;
}
