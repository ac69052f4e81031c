import { limits } from '#contract/limits.ts';
import type { Directory } from '../tenants/directory.ts';
import { atMost, type TenantBounds, type TenantRecord, type Tenants } from '../tenants/tenants.ts';
import type { Bus } from './bus.ts';
import type { History } from './log.ts';
import type { TenantId } from './route.ts';

/** The most tenants named in an error. */
const mostNamed = 10;

/**
 * Runs `work` for each tenant in turn. One that fails keeps no other from its turn.
 * @throws Error at the end when `task` failed for some tenants, with their names and the first reason.
 */
async function forEachTenant<Tenant extends { readonly name: string }>(
  tenants: readonly Tenant[],
  task: string,
  work: (tenant: Tenant) => Promise<void>,
): Promise<void> {
  const failed: { readonly name: string; readonly error: unknown }[] = [];
  for (const tenant of tenants) {
    try {
      await work(tenant);
    } catch (error) {
      failed.push({ name: tenant.name, error });
    }
  }
  if (failed.length === 0) return;
  const names = failed.slice(0, mostNamed).map(({ name }) => name);
  const others = failed.length > mostNamed ? ` and ${failed.length - mostNamed} others` : '';
  throw new Error(`${task} failed for the tenants ${names.join(', ')}${others}`, { cause: failed[0]?.error });
}

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
    const dropped = await repeat(() => pruneSome(options, tenant, keep, days), stopped);
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
async function pruneSome(
  { history, bus, now, trustedNow }: RetentionOptions,
  { id }: TenantRecord,
  keep: number | null,
  days: number | null,
): Promise<number> {
  const olderThan = days === null ? null : trustedNow() - days * dayMs;
  const dropped = await history.prune(id, { olderThan, keep }, now());
  // Notifications that were still on panels were cleared by new entries, so followers must be woken.
  if (dropped > 0) bus.publish(id, []);
  return dropped;
}

function bound(wanted: number | 'off', most: number | 'off'): number | null {
  const value = atMost(wanted, most);
  return value === 'off' ? null : value;
}

/** Who clears a notification because of the limit, in its history. */
const liveLimitActor = 'live-limit';

export interface LiveLimitOptions {
  readonly directory: { readonly tenants: Pick<Directory['tenants'], 'list'> };
  readonly history: Pick<History, 'clear' | 'stayingBeyond'>;
  readonly bus: Pick<Bus, 'publish'>;
  readonly now: () => number;
  readonly warn: (message: string) => void;
  /** Default: `limits.stayingPerTenant`. */
  readonly most?: number;
}

/** Cleared at the same time, so that they share commits. */
const clearedTogether = 50;

/**
 * Takes off panels what a tenant has there beyond `limits.stayingPerTenant`: notifications that stay and that nobody clears must not
 * fill the memory of the server. Resolves when no tenant has more, or once `stopped`.
 * @throws Error at the end when it failed for some tenants, with their names and the first reason.
 */
export async function enforceLiveLimit(options: LiveLimitOptions, stopped: () => boolean): Promise<void> {
  const { directory, warn, most = limits.stayingPerTenant } = options;
  await forEachTenant(
    await directory.tenants.list(),
    'the limit of live notifications',
    async ({ id, name }) => {
      let cleared = 0;
      for (let taken = 1; taken > 0 && !stopped(); cleared += taken)
        taken = await clearSome(options, id, most, stopped);
      if (cleared > 0)
        warn(
          `took ${cleared} notifications of the tenant ${name} off its panels, the oldest of the least serious: ` +
            `only ${most} may stay for longer than ${limits.stayingMs / 60_000} minutes`,
        );
    },
  );
}

/** Returns how many it cleared; 0: there is no more. */
async function clearSome(
  options: LiveLimitOptions,
  tenant: TenantId,
  most: number,
  stopped: () => boolean,
): Promise<number> {
  const { history, bus, now } = options;
  const ids = await history.stayingBeyond(tenant, most, now() + limits.stayingMs);
  let cleared = 0;
  for (let from = 0; from < ids.length && !stopped(); from += clearedTogether) {
    const together = ids.slice(from, from + clearedTogether);
    // Quietly: an incident must not be resolved because there are too many.
    const outcomes = await Promise.all(
      together.map((id) => history.clear(tenant, id, liveLimitActor, now(), true)),
    );
    const entries = outcomes.flatMap((outcome) => (outcome.kind === 'cleared' ? outcome.entry : []));
    if (entries.length > 0) bus.publish(tenant, entries);
    cleared += entries.length;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return cleared;
}

export interface RemovalOptions {
  readonly tenants: Pick<Tenants, 'listDeleting' | 'removeSome' | 'endDeletion'>;
  readonly history: Pick<History, 'prune'>;
  readonly now: () => number;
  readonly onRemoved: (name: string) => void;
}

/** How long one call goes on, so that the retention of other tenants is not late. */
const longestCallMs = 10_000;

/**
 * Removes the data of deleted tenants in small batches. Resolves when nothing is left to remove, after some seconds, or once `stopped`;
 * the next call goes on. A deletion ends with
 * the first call that finds nothing to remove: until then, another node may still have stored something that was under way.
 * @throws Error at the end when it failed for some tenants, with their names and the first reason.
 */
export async function removeDeletedTenants(options: RemovalOptions, stopped: () => boolean): Promise<void> {
  const { tenants, history, now, onRemoved } = options;
  const until = performance.now() + longestCallMs;
  const isOver = () => stopped() || performance.now() > until;
  await forEachTenant(await tenants.listDeleting(), 'removing the data', async ({ id, name }) => {
    const log = () => history.prune(id, { olderThan: now() + 1, keep: 0 }, now());
    const removed = (await repeat(log, isOver)) + (await repeat(() => tenants.removeSome(id), isOver));
    if (removed > 0 || isOver()) return;
    await tenants.endDeletion(id);
    onRemoved(name);
  });
}

/** Repeats a step until it has nothing to do; returns how much all steps did. */
async function repeat(step: () => Promise<number>, stopped: () => boolean): Promise<number> {
  let all = 0;
  while (!stopped()) {
    const began = performance.now();
    const done = await step();
    if (done === 0) break;
    all += done;
    const ms = Math.max(pauseMs, restFactor * (performance.now() - began));
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
  return all;
}
