import type { Bus } from '../bus.ts';
import type { History, TenantId } from '../ports.ts';
import type { Directory } from '../tenants/directory.ts';
import { atMost, type TenantBounds } from '../tenants/tenant-bounds.ts';
import type { TenantRecord } from '../tenants/tenants.ts';
import { forEachTenant } from './each-tenant.ts';

export interface RetentionOptions {
  readonly directory: {
    readonly tenants: Pick<Directory['tenants'], 'list'>;
    readonly rules: Pick<Directory['rules'], 'prune'>;
  };
  readonly history: Pick<History, 'prune' | 'oldestRevision'>;
  readonly bus: Pick<Bus, 'publish'>;
  /** The defaults for tenants without a setting of their own. */
  readonly days: number | 'off';
  readonly count: number | 'off';
  /** The upper bounds for all tenants. */
  readonly bounds: Pick<TenantBounds, 'retentionDays' | 'retentionCount'>;
  readonly now: () => number;
  /** The trusted clock, which decides about age. */
  readonly trustedNow: () => number;
  /**
   * When, and at which revision, old rule versions of a tenant were last deleted. Empty at first; pass the same map to every run.
   */
  readonly rulesPruned: Map<TenantId, { readonly at: number; readonly revision: number }>;
}

const dayMs = 86_400_000;
/** The shortest pause between two batches. It grows with the time of a batch, so that intake comes first. */
const pauseMs = 20;
const restFactor = 2;
/** Old rule versions accumulate slowly. */
const pruneRulesEveryMs = 600_000;

/**
 * Deletes what retention no longer keeps, in small batches. Resolves when nothing is left to delete, or once `stopped`.
 * @throws Error at the end when it failed for some tenants, with their names and the first reason.
 */
export async function enforceRetention(options: RetentionOptions, stopped: () => boolean): Promise<void> {
  const tenants = await options.directory.tenants.list();
  await forEachTenant(tenants, 'retention', async (tenant) => {
    const { bounds } = options;
    const keep = bound(tenant.retentionCount ?? options.count, bounds.retentionCount);
    const days = bound(tenant.retentionDays ?? options.days, bounds.retentionDays);
    if (keep === null && days === null) return;
    const dropped = await pruneTenant(options, tenant, keep, days, stopped);
    if (dropped > 0 && !stopped()) await pruneRules(options, tenant);
  });
}

/**
 * Deletes versions of rules that no stored route refers to. A current notification may still use the previous rules, so only
 * versions that had ended at the last call are deleted.
 */
async function pruneRules(
  { directory, history, rulesPruned, now }: RetentionOptions,
  { id, rulesRevision }: TenantRecord,
): Promise<void> {
  const last = rulesPruned.get(id);
  if (last && now() < last.at + pruneRulesEveryMs) return;
  rulesPruned.set(id, { at: now(), revision: rulesRevision });
  const oldest = await history.oldestRevision(id);
  if (last) await directory.rules.prune(id, Math.min(oldest ?? last.revision, last.revision));
}

/** Returns how many notifications it deleted. */
async function pruneTenant(
  { history, bus, now, trustedNow }: RetentionOptions,
  { id }: TenantRecord,
  keep: number | null,
  days: number | null,
  stopped: () => boolean,
): Promise<number> {
  let all = 0;
  while (!stopped()) {
    const olderThan = days === null ? null : trustedNow() - days * dayMs;
    const began = performance.now();
    const dropped = await history.prune(id, { olderThan, keep }, now());
    const tookMs = performance.now() - began;
    if (dropped === 0) return all;
    all += dropped;
    // Notifications that were still on panels were cleared by new entries, so followers must be woken.
    bus.publish(id, []);
    await new Promise((resolve) => setTimeout(resolve, Math.max(pauseMs, restFactor * tookMs)));
  }
  return all;
}

function bound(wanted: number | 'off', most: number | 'off'): number | null {
  const value = atMost(wanted, most);
  return value === 'off' ? null : value;
}
