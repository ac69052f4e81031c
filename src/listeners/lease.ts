/** A lease that one of several nodes holds. Only that node does what must not be done twice. */
import { setTimeout as sleep } from 'node:timers/promises';
import { settlesWithin } from '#core/concurrency.ts';
import type { SharedLease } from '#core/nodes.ts';

export const holdEveryMs = 5_000;
/** After this time without an answer, another node may take the lease soon. */
const heldMs = 10_000;

/** Takes or renews the lease. Undefined when the database does not answer in time. */
export async function holds(lease: SharedLease): Promise<boolean | undefined> {
  try {
    const held = lease.hold();
    return (await settlesWithin(held, holdEveryMs)) ? await held : undefined;
  } catch {
    return undefined;
  }
}

/** Renews the lease until `signal` aborts. If the lease is lost, resolves earlier with the reason. */
export async function renewLease(lease: SharedLease, signal: AbortSignal): Promise<string | undefined> {
  let heldAt = performance.now();
  while (!signal.aborted) {
    await sleep(holdEveryMs, undefined, { ref: false, signal }).catch(() => undefined);
    if (signal.aborted) return undefined;
    const at = performance.now();
    const isHeld = await holds(lease);
    if (isHeld) heldAt = at;
    else if (isHeld === false) return 'another node has taken over';
    else if (performance.now() - heldAt >= heldMs) return 'the database does not answer';
  }
  return undefined;
}
