/** From what the API is given to a schedule, and from a schedule to what it answers. */
import { limits } from '#contract/limits.ts';
import type {
  OnCallCreate,
  OnCallDetail,
  OnCallFields,
  OnCallPatch,
  OnCallSchedule,
  OnCallShift,
  OnCallSummary,
} from '#contract/routing/on-call.ts';
import type { ReplayRequest } from '#contract/routing/routing.ts';
import { badField } from '../errors.ts';
import { idsOf, requireKnown } from '../routing/rules.ts';
import type { TenantRecord } from '../tenants/tenants.ts';
import { checkTimeZone, iso, isoOrNull } from '../time/time.ts';
import { calendarAddress, unknownTitles } from './calendar.ts';
import { findGap, lookAheadMs, neverRead, type OnCallPlan, plansOf } from './on-call.ts';
import type { Stint } from './stints.ts';

const dayMs = 86_400_000;
const mostUnknown = 10;

interface Known {
  readonly panels: { has(id: string): boolean };
  readonly channels: ReadonlyMap<string, { readonly id: string; readonly name: string }>;
}

/**
 * A complete schedule with defaults for omitted fields, and channels by id. `timeZone` is the tenant's.
 *
 * @throws AppError `bad-request`, naming the field, for one that cannot work.
 */
export function newOnCall(wanted: OnCallCreate, timeZone: string, known: Known): OnCallFields {
  const fields = withDefaults(wanted, timeZone, known);
  checkReached(fields.people, known);
  checkPlan(fields);
  return fields;
}

/**
 * Fields that are not named keep their value, also when a panel or channel in them is deleted; a rota takes the place of a calendar,
 * and a calendar that of a rota.
 *
 * @throws AppError `bad-request` as {@link newOnCall}.
 */
export function changedOnCall(before: OnCallFields, patch: OnCallPatch, known: Known): OnCallFields {
  const other = { ...(patch.rota && { calendar: null }), ...(patch.calendar && { rota: null }) };
  const fields = withDefaults({ ...before, ...other, ...patch }, before.timeZone, known);
  if (patch.people) checkReached(fields.people, known);
  checkPlan(fields);
  return fields;
}

const withDefaults = (wanted: OnCallCreate, timeZone: string, { channels }: Known): OnCallFields => ({
  name: wanted.name.trim(),
  timeZone: wanted.timeZone ?? timeZone,
  people: wanted.people.map((person) => ({
    ...person,
    name: person.name.trim(),
    ...(person.channels && { channels: idsOf(person.channels, channels) }),
  })),
  rota: wanted.rota ?? null,
  calendar: wanted.calendar ?? null,
  alertBeforeMs: wanted.alertBeforeMs ?? dayMs,
});

/**
 * The schedules of a draft, ready to be asked. Those that are known have the calendar as it was read.
 *
 * @throws AppError `bad-request` as {@link newOnCall}.
 */
export function draftPlans(
  drafts: NonNullable<ReplayRequest['onCall']>,
  { record, ...known }: Known & { readonly record: Pick<TenantRecord, 'id' | 'timeZone'> },
  before: ReadonlyMap<string, OnCallPlan>,
): ReadonlyMap<string, OnCallPlan> {
  const records = drafts.map(({ id, ...wanted }) => {
    const fields = newOnCall(wanted, record.timeZone, known);
    const was = before.get(id)?.record;
    const reading = was && was.calendar?.url === fields.calendar?.url ? was.reading : neverRead;
    return { ...fields, ...{ tenant: record.id, id, createdAt: 0, updatedAt: 0, reading } };
  });
  return plansOf(records);
}

function checkPlan({ people, rota, calendar, timeZone }: OnCallFields): void {
  checkTimeZone(timeZone, 'timeZone');
  const names = new Set<string>();
  for (const [i, { name }] of people.entries()) {
    if (names.has(name)) throw badField(`people[${i}].name`, `"${name}" is there twice`);
    names.add(name);
  }
  if (rota && calendar) throw badField('calendar', 'give a rota or a calendar, not both');
  if (!rota && !calendar) throw badField('rota', 'is required, or a calendar');
  if (calendar) checkUrl(calendar.url);
  if (rota) checkRota(rota, names);
}

function checkReached(people: OnCallFields['people'], known: Known): void {
  let reached = 0;
  for (const [i, { channels = [], panels }] of people.entries()) {
    const ids = panels && 'ids' in panels ? panels.ids : [];
    requireKnown(`people[${i}].panels.ids`, ids, known.panels, "panel's id; GET /api/panels lists them");
    const channel = "channel's id or name; GET /api/channels lists them";
    requireKnown(`people[${i}].channels`, channels, known.channels, channel);
    reached += channels.length + ids.length + (panels && 'tags' in panels ? panels.tags.length : 0);
  }
  if (reached > limits.onCallNames)
    throw badField('people', `name more than ${limits.onCallNames} channels, panels and tags together`);
}

function checkUrl(url: string): void {
  const parsed = URL.canParse(url) ? new URL(calendarAddress(url)) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol))
    throw badField('calendar.url', 'must be the http(s) or webcal address of an iCalendar file');
}

function checkRota(
  { firstWeek, shifts }: NonNullable<OnCallFields['rota']>,
  people: ReadonlySet<string>,
): void {
  const day = Date.parse(firstWeek);
  if (Number.isNaN(day) || iso(day).slice(0, 10) !== firstWeek)
    throw badField('rota.firstWeek', `"${firstWeek}" is no day; write 2026-11-30`);
  for (const [i, shift] of shifts.entries()) {
    const unknown = shift.people.findIndex((name) => !people.has(name));
    if (unknown >= 0)
      throw badField(`rota.shifts[${i}].people[${unknown}]`, `"${shift.people[unknown]}" is not in people`);
  }
}

/** As the API answers it. `isAdmin`: with the address of the calendar, which may be a secret, and why it cannot be read. */
export function onCallView(plan: OnCallPlan, now: number, isAdmin: boolean): OnCallSchedule {
  const { record } = plan;
  const { timeZone, people, rota, calendar, alertBeforeMs, reading } = record;
  const gap = findGap(plan, now, lookAheadMs);
  const coming = (reading.copy?.events ?? []).filter(
    ({ from, until }) => until > now && from < now + lookAheadMs,
  );
  return {
    ...{ timeZone, people, rota, alertBeforeMs },
    calendar: calendar && (isAdmin ? calendar : { url: new URL(calendarAddress(calendar.url)).origin }),
    createdAt: iso(record.createdAt),
    updatedAt: iso(record.updatedAt),
    ...{ id: plan.id, name: plan.name },
    ...turns(plan, now),
    gap: gap ? { from: isoIfKnown(gap.from), until: isoIfKnown(gap.until) } : null,
    calendarState: calendar && {
      readAt: isoOrNull(reading.readAt),
      failingSince: isoOrNull(reading.failingSince),
      error: isAdmin ? reading.error : null,
      unknown: unknownTitles(coming, people, mostUnknown),
      leftOut: [...(reading.copy?.leftOut ?? [])],
    },
  };
}

/** Who is on call now, and next. */
export const onCallSummary = (plan: OnCallPlan, now: number): OnCallSummary => ({
  ...{ id: plan.id, name: plan.name, timeZone: plan.record.timeZone },
  ...turns(plan, now),
  calendarFailingSince: isoOrNull(plan.record.reading.failingSince),
});

function turns(plan: OnCallPlan, now: number): Pick<OnCallSummary, 'now' | 'next'> {
  const [current, next] = shiftsOf(plan.from(now), (_, i) => i < 2);
  return { now: current ?? { from: null, until: null, people: [] }, next: next ?? null };
}

export const onCallDetail = (plan: OnCallPlan, now: number, isAdmin: boolean): OnCallDetail => ({
  ...onCallView(plan, now, isAdmin),
  shifts: shiftsAhead(plan, now),
});

/** Of the next two weeks. */
export const shiftsAhead = (plan: OnCallPlan, now: number): OnCallShift[] =>
  shiftsOf(plan.from(now), ({ from }) => from < now + lookAheadMs);

function shiftsOf(stints: readonly Stint[], isShown: (stint: Stint, i: number) => boolean): OnCallShift[] {
  return stints.filter(isShown).map(({ from, until, people }) => ({
    ...{ from: isoIfKnown(from), until: isoIfKnown(until) },
    people: [...people],
  }));
}

const isoIfKnown = (at: number): string | null => isoOrNull(Number.isFinite(at) ? at : null);
