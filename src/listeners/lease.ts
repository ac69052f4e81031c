/** Of several nodes, one has the lease: it alone does what must not be done twice. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SharedLease } from '#core/nodes.ts';
import { settlesWithin } from '#core/settles-within.ts';

export const holdEveryMs = 5_000;
/** Without an answer for so long, another node may soon have it. */
const heldMs = 10_000;

/** Undefined without an answer. */
export async function holds(lease: SharedLease): Promise<boolean | undefined> {
  try {
    const held = lease.hold();
    return (await settlesWithin(held, holdEveryMs)) ? await held : undefined;
  } catch {
    return undefined;
  }
}

/** Renews it until the signal. Resolves earlier with the reason why it is lost. */
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
