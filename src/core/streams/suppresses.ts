/** The event `suppresses`: how many alarms the alarms of a panel suppress, and the first of them. */
import { limits } from '#contract/limits.ts';
import type { SuppressesEvent } from '#contract/panels/panel.ts';
import { suppressedByCause } from '../alarms/suppression.ts';
import type { History, HistoryRecord, SuppressedAlarms } from '../log/log.ts';
import type { TenantId } from '../log/route.ts';
import { type PanelAddress, reaches } from '../log/target.ts';

/** A cause, and what it suppresses. */
export interface Suppressing {
  readonly cause: HistoryRecord;
  readonly count: number;
  /** The first of them. */
  readonly suppressed: readonly HistoryRecord[];
}

/** Records of suppressed alarms that are read at once, of all causes. */
const mostRead = 500;
/** Causes for which panels get the event: a panel has no more cards. */
const mostCauses = limits.liveSet;
/** Suppressed alarms that expire leave no entry in the log. */
const againMs = 10_000;

export interface SuppressingContext {
  readonly history: Pick<History, 'suppression' | 'recordsAt'>;
  readonly now: () => number;
  readonly monotonicNow: () => number;
}

/** Reads what the alarms of a tenant suppress when that may have changed: at most once for each call of `read`, one at a time. */
export class SuppressingReader {
  readonly #context: SuppressingContext;
  readonly #tenant: TenantId;
  #head = -1;
  #readAt = Number.NEGATIVE_INFINITY;
  #isReading = false;
  #last: readonly Suppressing[] = [];

  constructor(context: SuppressingContext, tenant: TenantId) {
    this.#context = context;
    this.#tenant = tenant;
  }

  /** What was read last. */
  get last(): readonly Suppressing[] {
    return this.#last;
  }

  /** `head`: that of the log. `hasRules`: whether any rule suppresses. Returns whether it has read. */
  async read(head: number, hasRules: boolean): Promise<boolean> {
    const { monotonicNow } = this.#context;
    if (this.#isReading || (!hasRules && this.#last.length === 0)) return false;
    const isOld = this.#last.length > 0 && monotonicNow() - this.#readAt > againMs;
    if (head === this.#head && !isOld) return false;
    this.#isReading = true;
    try {
      this.#last = await this.#find();
      this.#head = head;
      this.#readAt = monotonicNow();
      return true;
    } finally {
      this.#isReading = false;
    }
  }

  async #find(): Promise<readonly Suppressing[]> {
    const { history, now } = this.#context;
    const alarms = await history.suppression(this.#tenant, now());
    if (alarms.suppressed.length === 0) return [];
    const all = causesOnPanels(alarms).slice(0, mostCauses);
    const perCause = Math.max(1, Math.floor(mostRead / Math.max(1, all.length)));
    const wanted = all.map(({ cause, suppressed }) => ({
      cause,
      count: suppressed.length,
      first: suppressed.slice(0, perCause).map(({ position }) => position),
    }));
    const positions = wanted.flatMap(({ cause, first }) => [cause, ...first]);
    const records = new Map(
      (await history.recordsAt(this.#tenant, positions)).map((record) => [record.position, record]),
    );
    return wanted.flatMap(({ cause: position, count, first }) => {
      const cause = records.get(position);
      return cause ? [{ cause, count, suppressed: first.flatMap((each) => records.get(each) ?? []) }] : [];
    });
  }
}

/** The causes that are not suppressed themselves, the newest first, with all that they suppress. */
function causesOnPanels(alarms: SuppressedAlarms) {
  const off = new Set(alarms.suppressed.map(({ position }) => position));
  const suppressedBy = suppressedByCause(alarms);
  return [...new Set(alarms.causes.map(({ position }) => position))]
    .filter((position) => !off.has(position))
    .sort((a, b) => b - a)
    .map((cause) => ({ cause, suppressed: suppressedBy(cause) }))
    .filter(({ suppressed }) => suppressed.length > 0);
}

/** The event for a panel that shows the cause, with those alarms that would be on it, as far as they were read. */
export function suppressesEvent(
  { cause, count, suppressed }: Suppressing,
  panel: PanelAddress,
): SuppressesEvent {
  const own = suppressed.filter(({ route }) => reaches(route.target, panel));
  // Of a panel that all alarms reach that were read, the others are likely to reach it, too.
  const unread = own.length === suppressed.length ? count - suppressed.length : 0;
  return {
    id: cause.id,
    count: own.length + unread,
    alarms: own
      .slice(0, limits.suppressedNamed)
      .map(({ id, level, title, host }) => ({ id, level, title, host })),
  };
}
