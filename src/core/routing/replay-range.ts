import type { Entry, History, Notification, TenantId } from '../ports.ts';

const pageEntries = 500;

/** Where a replay begins, and whether that is as far back as was asked. */
export interface ReplayStart {
  /** The position before the first entry to look at. */
  readonly after: number;
  readonly head: number;
  readonly complete: boolean;
}

/**
 * Finds the first entry received at `since` or later, among the newest `most`. Times rise with positions but for the
 * moments a clock is set back, so the log is searched by halves.
 */
export async function replayStart(
  history: Pick<History, 'bounds' | 'readAfter'>,
  tenant: TenantId,
  since: number,
  most: number,
): Promise<ReplayStart> {
  const { head, first } = await history.bounds(tenant);
  const floor = Math.max(first - 1, head - most);
  let low = floor;
  let high = head;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const [entry] = (await history.readAfter(tenant, middle, 1)).entries;
    if (entry && timeOf(entry) < since) low = Math.max(middle + 1, entry.position);
    else high = middle;
  }
  // Begun at the floor that was put in, not at the one that time or retention gave.
  const complete = low > floor || floor === first - 1;
  return { after: low, head, complete };
}

/** The notifications from there up to the head of then, oldest first, a page in memory at a time. */
export async function* replayed(
  history: Pick<History, 'readAfter'>,
  tenant: TenantId,
  { after, head }: ReplayStart,
): AsyncGenerator<Notification> {
  let position = after;
  while (position < head) {
    const { entries } = await history.readAfter(tenant, position, pageEntries);
    const last = entries.at(-1);
    if (!last) return;
    for (const entry of entries) if (entry.kind === 'notification' && entry.position <= head) yield entry;
    position = last.position;
  }
}

function timeOf(entry: Entry): number {
  return entry.kind === 'clear' ? entry.at : entry.receivedAt;
}
