/** What a transfer stores of alarms: the memory of live notifications, and what people did about them. */
import type { Acknowledgement, Clear, Notification } from '#core/log/log.ts';
import type { TenantId } from '#core/log/route.ts';
import {
  type AlarmEntry,
  type EscalationRow,
  firstAlarmRank,
  type MemoryRow,
  type ShelfRow,
  type SuppressedRow,
  suppressKeysOf,
  toOff,
  toStoredFollows,
} from '../log/history-rows.ts';

/** A row of the table `live`, as far as it remembers an alarm. */
export interface LiveMemory extends Omit<MemoryRow, keyof EscalationRow> {
  since: number;
  earlier: number | null;
  highest_level: string | null;
  highest_rank: number | null;
  shelved: string | null;
  owner: string | null;
  returns_at: number | null;
  follows: string | null;
  suppressed: string | null;
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
  ...{ earlier: null, highest_level: null, highest_rank: null, owner: null },
  ...{ shelved: null, returns_at: null, follows: null, suppressed: null },
});

/** What follows from the entries of a page about notifications, beside their rows in the log. */
export class AlarmImport {
  /** Live notifications whose memory changed. */
  readonly changed = new Set<PlacedRow>();
  /** By their notification: the last of each; undefined: there is none any more. */
  readonly acknowledged = new Map<PlacedRow, Acknowledgement | undefined>();
  readonly listed: object[] = [];
  /** Rows of the table `alarm_causes`. */
  readonly causes: object[] = [];
  readonly #estates: Estates;

  constructor(estates: Estates) {
    this.#estates = estates;
  }

  /** The memory of a notification that is live; what it inherits is used up. */
  begin(notification: Notification): LiveMemory {
    const { id, receivedAt, rank, route } = notification;
    const memory = newMemory(receivedAt);
    memory.follows = toStoredFollows(suppressKeysOf(notification, route));
    if (route.suppressed) {
      const { by, key } = route.suppressed;
      memory.suppressed = key;
      memory.shelved = JSON.stringify({ at: receivedAt, by } satisfies SuppressedRow);
    }
    const left = this.#estates.get(id);
    this.#estates.delete(id);
    if (!left || rank < firstAlarmRank || left.rank < firstAlarmRank) return memory;
    inherit(memory, left, rank);
    const { shelved } = toOff(left.shelved);
    if (!route.shelved || shelved === null) return memory;
    return Object.assign(memory, { shelved: left.shelved, returns_at: shelved.until });
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

  change(of: PlacedRow, entry: AlarmEntry): void {
    const { position } = entry;
    const { tenant, row, rank, live } = of;
    this.listed.push({ tenant, row, position });
    if (entry.kind !== 'assignment')
      this.acknowledged.set(of, entry.kind === 'acknowledgement' ? entry : undefined);
    if (!live) return;
    Object.assign(live, memoryAfter(entry, rank));
    this.changed.add(of);
  }
}

/** What an entry changes of what an alarm of this rank remembers. */
function memoryAfter(entry: AlarmEntry, rank: number): Partial<LiveMemory> {
  const { at, by } = entry;
  switch (entry.kind) {
    case 'assignment':
      return { owner: entry.owner && JSON.stringify(entry.owner) };
    case 'acknowledgement':
      return { shelved: null, suppressed: null, returns_at: entry.until ?? null };
    case 'shelving': {
      const { note, until } = entry;
      const shelved = JSON.stringify({ at, by, note, until, rank } satisfies ShelfRow);
      return { shelved, suppressed: null, returns_at: until };
    }
    case 'suppression': {
      const shelved = JSON.stringify({ at, by } satisfies SuppressedRow);
      return { shelved, suppressed: entry.key, returns_at: null };
    }
    case 'return':
      return { shelved: null, suppressed: null, returns_at: null };
  }
}

function inherit(memory: LiveMemory, left: Estate, rank: number): void {
  const isHigher = left.highest_rank === null || left.rank >= left.highest_rank;
  const highest = isHigher ? left.rank : (left.highest_rank as number);
  memory.since = Math.min(memory.since, left.since);
  memory.earlier = (memory.earlier ?? 0) + (left.earlier ?? 0);
  memory.owner ??= left.owner;
  if (highest <= rank) return;
  memory.highest_level ??= isHigher ? left.level : left.highest_level;
  memory.highest_rank ??= highest;
}
