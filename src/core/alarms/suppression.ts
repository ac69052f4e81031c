/**
 * Alarms that are off the panels while another one, their cause, stands: the sweep that suppresses them and brings them back, and
 * which alarms a cause suppresses.
 */
import type { ChannelService } from '../channels/channels.ts';
import type { Bus } from '../log/bus.ts';
import type { History, LivePosition, SuppressedAlarms } from '../log/log.ts';
import { getOrMake } from '../maps.ts';
import type { Tenancy } from '../tenants/tenancy.ts';

export interface SuppressionContext {
  readonly history: Pick<History, 'updateSuppression' | 'suppressingRules' | 'endSuppressing'>;
  readonly bus: Pick<Bus, 'publish'>;
  readonly channels: Pick<ChannelService, 'wake'>;
  readonly tenancy: Pick<Tenancy, 'get'>;
  readonly now: () => number;
}

const changedAtOnce = 200;

/**
 * Suppresses what stood before its cause, and brings back what has none any more: it has ended, or its rule was changed, disabled or
 * deleted. On several nodes each of them may call it: the first one counts.
 * @throws the first error about a rule, when all else is done.
 */
export async function updateSuppression(context: SuppressionContext, stopped: () => boolean): Promise<void> {
  const { history, bus, channels, now } = context;
  const [error] = await endChangedRules(context);
  while (!stopped()) {
    const changed = await history.updateSuppression(now(), changedAtOnce);
    if (changed.size === 0) break;
    for (const [tenant, entries] of changed) {
      if (entries.length > 0) bus.publish(tenant, entries);
      // What comes back may be queued for channels.
      if (entries.some(({ kind }) => kind === 'return')) channels.wake(tenant);
    }
  }
  if (error !== undefined) throw error;
}

async function endChangedRules({ history, tenancy }: SuppressionContext): Promise<unknown[]> {
  const errors: unknown[] = [];
  for (const { tenant, rule, revision } of await history.suppressingRules()) {
    try {
      const { router } = await tenancy.get(tenant);
      // Another node may have newer rules than this one.
      if (router.revision < revision || router.suppressing.includes(rule)) continue;
      await history.endSuppressing(tenant, rule, router.revision);
    } catch (error) {
      // The alarms of the others are suppressed all the same.
      errors.push(error);
    }
  }
  return errors;
}

/** By the position of a cause: what it suppresses, and what these suppress; the highest rank first, then the newest. */
export function suppressedByCause({
  causes,
  suppressed,
}: SuppressedAlarms): (cause: number) => readonly LivePosition[] {
  const keysOf = Map.groupBy(causes, ({ position }) => position);
  const byKey = Map.groupBy(suppressed, ({ key }) => key);
  const found = new Map<string, readonly LivePosition[]>();
  // Causes with the same keys suppress the same alarms: they are collected once.
  return (cause) => {
    const keys = (keysOf.get(cause) ?? []).map(({ key }) => key);
    return getOrMake(found, keys.sort().join(), () => collect(keys)).filter(
      (each) => each.position !== cause,
    );
  };

  function collect(keys: readonly string[]): readonly LivePosition[] {
    const reached = new Map<number, LivePosition>();
    const open = [...keys];
    const seen = new Set(open);
    for (let key = open.pop(); key !== undefined; key = open.pop())
      for (const { position, rank } of byKey.get(key) ?? []) {
        reached.set(position, { position, rank });
        for (const { key: next } of keysOf.get(position) ?? []) {
          if (seen.has(next)) continue;
          seen.add(next);
          open.push(next);
        }
      }
    return [...reached.values()].sort((a, b) => b.rank - a.rank || b.position - a.position);
  }
}
