import { limits } from '#contract/limits.ts';
import type { History, TenantId } from '../ports.ts';
import type { Directory } from '../tenants/directory.ts';
import { forEachTenant } from './each-tenant.ts';
import { type TakeOffContext, takeOff } from './take-off.ts';

/** Who clears a notification because of the limit, in its history. */
const liveLimitActor = 'live-limit';

export interface LiveLimitOptions extends Omit<TakeOffContext, 'history'> {
  readonly directory: { readonly tenants: Pick<Directory['tenants'], 'list'> };
  readonly history: Pick<History, 'clear' | 'stayingBeyond'>;
  readonly warn: (message: string) => void;
  /** Default: `limits.stayingPerTenant`. */
  readonly most?: number;
}

/** Cleared at the same time, so that they share commits. */
const clearedTogether = 50;
/** After each, so that intake comes first. */
const pauseMs = 20;

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
  const { history, now } = options;
  const ids = await history.stayingBeyond(tenant, most, now() + limits.stayingMs);
  let cleared = 0;
  for (let from = 0; from < ids.length && !stopped(); from += clearedTogether) {
    const together = ids.slice(from, from + clearedTogether);
    const outcomes = await Promise.all(together.map((id) => takeOff(options, tenant, id, liveLimitActor)));
    cleared += outcomes.filter(({ kind }) => kind === 'cleared').length;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return cleared;
}
