/** The event `suppresses`: how many alarms the alarms of a panel suppress, and the first of them. */
import { limits } from '#contract/limits.ts';
import type { SuppressesEvent } from '#contract/panels/panel.ts';
import { followersOf } from '../alarms/suppression.ts';
import type { History, HistoryRecord } from '../log/log.ts';
import type { TenantId } from '../log/route.ts';
import { type PanelAddress, reaches } from '../log/target.ts';

/** A cause, and what it suppresses. */
export interface Suppressing {
  readonly cause: HistoryRecord;
  readonly count: number;
  /** The first of them. */
  readonly followers: readonly HistoryRecord[];
}

/** Records of followers that are read at once, of all causes. */
const mostRead = 500;
/** Causes for which panels get the event: a panel has no more cards. */
const mostCauses = limits.liveSet;

export async function readSuppressing(
  {
    history,
    now,
  }: { readonly history: Pick<History, 'suppression' | 'recordsAt'>; readonly now: () => number },
  tenant: TenantId,
): Promise<readonly Suppressing[]> {
  const alarms = await history.suppression(tenant, now());
  if (alarms.suppressed.length === 0) return [];
  const off = new Set(alarms.suppressed.map(({ position }) => position));
  const shown = [...new Set(alarms.causes.map(({ position }) => position))]
    .filter((each) => !off.has(each))
    .sort((a, b) => b - a);
  const followers = followersOf(alarms);
  const all = shown
    .map((cause) => ({ cause, following: followers(cause) }))
    .filter(({ following }) => following.length > 0)
    .slice(0, mostCauses);
  const perCause = Math.max(1, Math.floor(mostRead / Math.max(1, all.length)));
  const wanted = all.map(({ cause, following }) => ({
    cause,
    count: following.length,
    first: following.slice(0, perCause).map(({ position }) => position),
  }));
  const positions = wanted.flatMap(({ cause, first }) => [cause, ...first]);
  const records = new Map(
    (await history.recordsAt(tenant, positions)).map((record) => [record.position, record]),
  );
  return wanted.flatMap(({ cause, count, first }) => {
    const record = records.get(cause);
    const found = first.flatMap((position) => records.get(position) ?? []);
    return record ? [{ cause: record, count, followers: found }] : [];
  });
}

/** The event for a panel that shows the cause, with those alarms that would be on it, as far as they were read. */
export function suppressesEvent(
  { cause, count, followers }: Suppressing,
  panel: PanelAddress,
): SuppressesEvent {
  const own = followers.filter(({ route }) => reaches(route.target, panel));
  // Of a panel that all alarms reach that were read, the others are likely to reach it, too.
  const unread = own.length === followers.length ? count - followers.length : 0;
  return {
    id: cause.id,
    count: own.length + unread,
    alarms: own
      .slice(0, limits.suppressedNamed)
      .map(({ id, level, title, host }) => ({ id, level, title, host })),
  };
}

/** Expired followers leave no entry in the log. */
const againMs = 10_000;

/** Reads what the alarms of a tenant suppress when that may have changed: at most once for each call of `read`, one at a time. */
export class SuppressingReader {
  #head = -1;
  #readAt = Number.NEGATIVE_INFINITY;
  #isReading = false;
  #last: readonly Suppressing[] = [];

  /** What was read last. */
  get last(): readonly Suppressing[] {
    return this.#last;
  }

  /** `head`: that of the log. Returns whether it has read. */
  async read(
    context: Parameters<typeof readSuppressing>[0] & { readonly monotonicNow: () => number },
    tenant: TenantId,
    { head, suppresses }: { readonly head: number; readonly suppresses: boolean },
  ): Promise<boolean> {
    if (this.#isReading || (!suppresses && this.#last.length === 0)) return false;
    const isOld = this.#last.length > 0 && context.monotonicNow() - this.#readAt > againMs;
    if (head === this.#head && !isOld) return false;
    this.#isReading = true;
    try {
      this.#last = await readSuppressing(context, tenant);
      this.#head = head;
      this.#readAt = context.monotonicNow();
      return true;
    } finally {
      this.#isReading = false;
    }
  }
}
