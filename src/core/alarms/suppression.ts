/**
 * Alarms that are off the panels while another one, their cause, stands: the sweep that suppresses them and brings them back, and
 * which alarms a cause suppresses.
 */
import type { ChannelService } from '../channels/channels.ts';
import type { Bus, History, LivePosition, SuppressedAlarms } from '../log/log.ts';
import type { Tenancy } from '../tenants/tenancy.ts';

export interface SuppressionContext {
  readonly history: Pick<History, 'settleSuppressed' | 'suppressingRules' | 'endSuppressing'>;
  readonly bus: Pick<Bus, 'publish'>;
  readonly channels: Pick<ChannelService, 'wake'>;
  readonly tenancy: Pick<Tenancy, 'get'>;
  readonly now: () => number;
}

const settledAtOnce = 200;

/**
 * Suppresses what stood before its cause, and brings back what has none any more: it has ended, or its rule was changed, disabled or
 * deleted. On several nodes each of them may call it: the first one counts.
 */
export async function settleSuppressed(context: SuppressionContext, stopped: () => boolean): Promise<void> {
  const { history, bus, channels, now } = context;
  await endChangedRules(context);
  while (!stopped()) {
    const settled = await history.settleSuppressed(now(), settledAtOnce);
    if (settled.size === 0) return;
    for (const [tenant, entries] of settled) {
      bus.publish(tenant, entries);
      // What comes back may be queued for channels.
      if (entries.some(({ kind }) => kind === 'return')) channels.wake(tenant);
    }
  }
}

async function endChangedRules({ history, tenancy }: SuppressionContext): Promise<void> {
  for (const { tenant, rule, revision } of await history.suppressingRules()) {
    const { router } = await tenancy.get(tenant);
    // Another node may have newer rules than this one.
    if (router.revision < revision || router.suppressing.includes(rule)) continue;
    await history.endSuppressing(tenant, rule, router.revision);
  }
}

/** By the position of a cause: what it suppresses, and what these suppress; the highest rank first, then the newest. */
export function followersOf({
  causes,
  suppressed,
}: SuppressedAlarms): (cause: number) => readonly LivePosition[] {
  const keysOf = Map.groupBy(causes, ({ position }) => position);
  const following = Map.groupBy(suppressed, ({ key }) => key);
  return (cause) => {
    const found = new Map<number, LivePosition>();
    const open = [cause];
    for (let next = open.pop(); next !== undefined; next = open.pop())
      for (const { key } of keysOf.get(next) ?? [])
        for (const { position, rank } of following.get(key) ?? []) {
          if (position === cause || found.has(position)) continue;
          found.set(position, { position, rank });
          open.push(position);
        }
    return [...found.values()].sort((a, b) => b.rank - a.rank || b.position - a.position);
  };
}
