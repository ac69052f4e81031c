/**
 * On call: a schedule says which people take care of alarms at which time. A rule with `then.onCall` adds the channels and panels of
 * those who are on call when a notification comes. A schedule has a weekly rota (`rota.ts`), or a calendar whose last good copy is
 * stored (`calendar.ts`), so who is on call is known in memory, on every node, and after a restart. Both make stints, which may
 * overlap; a timeline is made of them, in which every moment has its people.
 */
import type { OnCallFields, OnCallPerson } from '#contract/routing/on-call.ts';
import type { Ref, TenantId } from '../log/route.ts';
import type { Actor } from '../tenants/audit.ts';
import { stintsOfCalendar } from './calendar.ts';
import { stintsOfRota } from './rota.ts';
import { type CalendarEvent, type LeftOutEvent, type Stint, timelineOf } from './stints.ts';

export interface OnCallRecord extends OnCallFields {
  readonly tenant: TenantId;
  readonly id: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly reading: CalendarReading;
}

/** What is known of a calendar; not part of the configuration. */
export interface CalendarReading {
  /** The last good copy; null until the calendar has been read. */
  readonly copy: CalendarCopy | null;
  /** Of the copy, as the server of the calendar named it, after the version of Belfry that read it. */
  readonly etag: string | null;
  readonly readAt: number | null;
  readonly failingSince: number | null;
  readonly error: string | null;
}

export interface CalendarCopy {
  readonly events: readonly CalendarEvent[];
  /** Up to when the events of repeating ones are listed. */
  readonly until: number;
  /** Events that cannot be used: the first ten. */
  readonly leftOut?: readonly LeftOutEvent[];
}

export const neverRead: CalendarReading = {
  copy: null,
  etag: null,
  readAt: null,
  failingSince: null,
  error: null,
};

export type ReadResult =
  | { readonly kind: 'read'; readonly copy: CalendarCopy; readonly etag: string | null }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'failed'; readonly error: string };

/** The part of the directory. */
export interface OnCallSchedules {
  /** By name. */
  list(tenant: TenantId): Promise<readonly OnCallRecord[]>;
  find(tenant: TenantId, id: string): Promise<OnCallRecord | undefined>;
  /** @throws AppError `conflict` when the name is taken or there are as many as a tenant may have. */
  create(record: Omit<OnCallRecord, 'reading'>, by: Actor): Promise<void>;
  /**
   * `plan` is called again if the schedule was changed in the meantime. Another calendar drops the copy of the one before.
   * @throws AppError `conflict` when the name is another schedule's.
   */
  update(
    tenant: TenantId,
    id: string,
    plan: (known: OnCallRecord) => OnCallFields,
    by: Actor,
    at: number,
  ): Promise<OnCallRecord | undefined>;
  /** false when there is none; undefined when, given `revision`, the rules are no longer those of that revision. */
  remove(
    tenant: TenantId,
    id: string,
    by: Actor,
    at: number,
    revision?: number,
  ): Promise<boolean | undefined>;
  /** Schedules whose calendar is to be read at `now`. No other call returns them before `until`. */
  claimCalendars(now: number, until: number, limit: number): Promise<readonly OnCallRecord[]>;
  /**
   * Stores what was read, unless the schedule was changed since `record`. Returns whether another copy is in force now, or the
   * calendar fails that did not, or the other way round: these are changes of the configuration for other nodes.
   */
  recordRead(record: OnCallRecord, result: ReadResult, at: number): Promise<boolean>;
}

/** Reads calendars over the network; what is read is stored. */
export interface CalendarReader {
  /** Reads one at once. A calendar that cannot be read is no error: its schedule says so. */
  read(record: OnCallRecord): Promise<void>;
  /** Reads all that are due, until there are none. */
  readDue(isStopped: () => boolean): Promise<void>;
}

/** Who is on call at one time. */
export interface OnCall {
  readonly schedule: Ref;
  readonly people: readonly OnCallPerson[];
}

const dayMs = 86_400_000;
const weekMs = 7 * dayMs;
/** How far ahead schedules are shown and checked. */
export const lookAheadMs = 2 * weekMs;
const mostWeeks = 8;

/** A schedule, ready to be asked. */
export class OnCallPlan {
  readonly id: string;
  readonly record: OnCallRecord;
  readonly #byName: ReadonlyMap<string, OnCallPerson>;
  readonly #timelines = new Map<number, readonly Stint[]>();

  constructor(record: OnCallRecord) {
    this.id = record.id;
    this.record = record;
    this.#byName = new Map(record.people.map((person) => [person.name, person]));
  }

  get name(): string {
    return this.record.name;
  }

  /** Who is on call then. */
  at(at: number): OnCall {
    return this.named(this.#stintAt(at).people);
  }

  /** Those of these names that the schedule still has. */
  named(names: readonly string[]): OnCall {
    const people = names.flatMap((name) => this.#byName.get(name) ?? []);
    return { schedule: { id: this.id, name: this.name }, people };
  }

  /**
   * From `at` on, without pauses: a stint without people is a gap. The first begins before `at`, or at -Infinity when that is
   * more than a week ago. The last ends at Infinity: that is not in sight, which is at least four weeks.
   */
  from(at: number): readonly Stint[] {
    return this.#around(at).filter(({ until }) => until > at);
  }

  #stintAt(at: number): Stint {
    const found = this.#around(at).find(({ until }) => until > at);
    return found ?? { from: at, until: at, people: [] };
  }

  /** From the week before to four weeks after; kept for some weeks, because a replay asks for earlier ones meanwhile. */
  #around(at: number): readonly Stint[] {
    const week = Math.floor(at / weekMs);
    const known = this.#timelines.get(week);
    if (known) return known;
    const [from, until] = [(week - 1) * weekMs, (week + 5) * weekMs];
    const timeline = timelineOf(stintsOf(this.record, from, until), from, until).map((stint) => ({
      ...stint,
      from: stint.from === from ? Number.NEGATIVE_INFINITY : stint.from,
      until: stint.until === until ? Number.POSITIVE_INFINITY : stint.until,
    }));
    if (this.#timelines.size >= mostWeeks) this.#timelines.clear();
    this.#timelines.set(week, timeline);
    return timeline;
  }
}

function stintsOf(record: OnCallRecord, from: number, until: number): readonly Stint[] {
  const { rota, timeZone, people, reading } = record;
  if (rota) return stintsOfRota(rota, timeZone, from, until);
  return stintsOfCalendar(reading.copy?.events ?? [], people);
}

/** The first time from `at` on, or since before it, at which nobody is on call; `from` and `until` as {@link OnCallPlan.from}. */
export function findGap(plan: OnCallPlan, at: number, withinMs: number): Omit<Stint, 'people'> | undefined {
  const gap = plan.from(at).find(({ from, people }) => people.length === 0 && from < at + withinMs);
  return gap && { from: gap.from, until: gap.until };
}

/** The schedules of a tenant by id. */
export const plansOf = (records: readonly OnCallRecord[]): ReadonlyMap<string, OnCallPlan> =>
  new Map(records.map((record) => [record.id, new OnCallPlan(record)]));
