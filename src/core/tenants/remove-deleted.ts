import { forEachTenant } from '../history/each-tenant.ts';
import type { History } from '../ports.ts';
import type { Tenants } from './tenants.ts';

export interface RemovalOptions {
  readonly tenants: Pick<Tenants, 'listDeleting' | 'removeSome' | 'endDeletion'>;
  readonly history: Pick<History, 'prune'>;
  readonly now: () => number;
  readonly onRemoved: (name: string) => void;
}

/** How long one call goes on, so that the retention of other tenants is not late. */
const longestCallMs = 10_000;
/** The shortest pause between two batches. It grows with the time of a batch, so that intake comes first. */
const pauseMs = 20;
const restFactor = 2;

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
