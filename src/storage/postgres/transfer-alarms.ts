/** What a transfer stores of alarms: the memory of live notifications, and what people did about them. */
import type { Acknowledgement, Clear, Notification, Return, Shelving, TenantId } from '#core/log/log.ts';
import { type EscalationRow, firstAlarmRank, type MemoryRow, type ShelfRow } from '../log/history-rows.ts';

/** A row of the table `live`, as far as it remembers an alarm. */
export interface LiveMemory extends Omit<MemoryRow, keyof EscalationRow> {
  since: number;
  earlier: number | null;
  highest_level: string | null;
  highest_rank: number | null;
  shelved: string | null;
  returns_at: number | null;
}

/** Where a notification is. */
export interface PlacedRow {
  readonly id: string;
  readonly tenant: TenantId;
  readonly row: number;
  readonly rank: number;
  readonly position: number;
  readonly level: string;
  /** How many were counted on it before this page. */
  readonly counted: number;
  /** null: it is not live. */
  live: LiveMemory | null;
}

/** What a replaced notification leaves to the one that replaces it. */
type Estate = LiveMemory & Pick<PlacedRow, 'rank' | 'level'>;

/** Between a clear and the notification that replaced, which may be the first of the next page. By the id of that one. */
export type Estates = Map<string, Estate>;

export const newMemory = (since: number): LiveMemory => ({
  since,
  ...{ earlier: null, highest_level: null, highest_rank: null, shelved: null, returns_at: null },
});

/** What follows from the entries of a page about notifications, beside their rows in the log. */
export class AlarmImport {
  /** Live notifications whose memory changed. */
  readonly changed = new Set<PlacedRow>();
  /** By their notification: the last of each; undefined: there is none any more. */
  readonly acknowledged = new Map<PlacedRow, Acknowledgement | undefined>();
  readonly listed: object[] = [];
  readonly #estates: Estates;

  constructor(estates: Estates) {
    this.#estates = estates;
  }

  /** The memory of a notification that is live; what it inherits is used up. */
  begin({ id, receivedAt, rank, route }: Notification): LiveMemory {
    const memory = newMemory(receivedAt);
    const left = this.#estates.get(id);
    this.#estates.delete(id);
    if (!left || rank < firstAlarmRank || left.rank < firstAlarmRank) return memory;
    inherit(memory, left, rank);
    if (!route.shelved || left.shelved === null) return memory;
    const { until } = JSON.parse(left.shelved) as ShelfRow;
    return Object.assign(memory, { shelved: left.shelved, returns_at: until });
  }

  /** `heir`: what replaced it, if it was there before; `counted`: how many were counted on it. */
  clear(of: PlacedRow, { reason, by }: Clear, heir: PlacedRow | undefined, counted: number): void {
    const { live, rank, level } = of;
    of.live = null;
    this.changed.delete(of);
    if (!live || reason !== 'replaced') return;
    const left = { ...live, rank, level, earlier: (live.earlier ?? 0) + 1 + counted };
    if (heir?.live) {
      inherit(heir.live, left, heir.rank);
      this.changed.add(heir);
    } else this.#estates.set(by, left);
  }

  change(of: PlacedRow, entry: Acknowledgement | Shelving | Return): void {
    const { position } = entry;
    const { tenant, row, rank, live } = of;
    this.listed.push({ tenant, row, position });
    this.acknowledged.set(of, entry.kind === 'acknowledgement' ? entry : undefined);
    if (!live) return;
    const { at, by, note = null, until = null } = { note: null, until: null, ...entry };
    live.shelved = entry.kind === 'shelving' ? JSON.stringify({ at, by, note, until, rank }) : null;
    live.returns_at = until;
    this.changed.add(of);
  }
}

function inherit(memory: LiveMemory, left: Estate, rank: number): void {
  const isHigher = left.highest_rank === null || left.rank >= left.highest_rank;
  const highest = isHigher ? left.rank : (left.highest_rank as number);
  memory.since = Math.min(memory.since, left.since);
  memory.earlier = (memory.earlier ?? 0) + (left.earlier ?? 0);
  if (highest <= rank) return;
  memory.highest_level ??= isHigher ? left.level : left.highest_level;
  memory.highest_rank ??= highest;
}
