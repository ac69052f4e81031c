/** The events of an iCalendar file (RFC 5545), repeating ones listed one by one. */
import ICAL from 'ical.js';
import { limits } from '#contract/limits.ts';
import type { CalendarCopy } from '#core/on-call/on-call.ts';
import type { CalendarEvent } from '#core/on-call/stints.ts';
import { zonedTime, zoneOffset } from '#core/time/time.ts';

export interface CalendarFile {
  readonly text: string;
  /** Of times without a zone, and of whole days. */
  readonly timeZone: string;
  /** Events that touch this range are listed. */
  readonly from: number;
  readonly until: number;
  /** If there are too many events, those that ended before it are left out first. */
  readonly now: number;
}

/** A rule that repeats every second would go on for ever. */
const mostSteps = 100_000;
const mostTextChars = 200;
const dayMs = 86_400_000;

/** A time zone by its IANA name: programs need not describe it in the file, and what they do describe may be out of date. */
class NamedZone extends ICAL.Timezone {
  override utcOffset(time: ICAL.Time): number {
    const wall = wallOf(time);
    return (wall - zonedTime(wall, this.tzid)) / 1000;
  }
}

class Calendar extends ICAL.Component {
  readonly #zones = new Map<string, ICAL.Timezone>();

  override getTimeZoneByID(tzid: string): ICAL.Timezone {
    let zone = this.#zones.get(tzid);
    if (zone === undefined) {
      zone = isNamedZone(tzid) ? new NamedZone({ tzid }) : super.getTimeZoneByID(tzid);
      this.#zones.set(tzid, zone);
    }
    return zone;
  }
}

/**
 * @returns events in order of time, at most `limits.calendarEvents`; cancelled ones are left out.
 * @throws Error with a sentence for people.
 */
export function eventsOf(file: CalendarFile): CalendarCopy {
  const components = parse(file.text).flatMap((each) => each.getAllSubcomponents('vevent'));
  const events: CalendarEvent[] = [];
  const exceptions = Map.groupBy(
    components.filter((each) => each.hasProperty('recurrence-id')),
    (each) => String(each.getFirstPropertyValue('uid')),
  );
  let steps = 0;
  for (const component of components) {
    const isException = component.hasProperty('recurrence-id');
    const own = isException ? [] : (exceptions.get(String(component.getFirstPropertyValue('uid'))) ?? []);
    for (const found of occurrences(new ICAL.Event(component, { exceptions: own }), file)) {
      steps += 1;
      if (steps > mostSteps) throw new Error('its events repeat too often');
      if (found && found.until > file.from && found.from < file.until) events.push(found);
    }
  }
  return { events: mostImportant(events, file.now), until: file.until };
}

/** At most `limits.calendarEvents`, in order of time. */
function mostImportant(events: CalendarEvent[], now: number): CalendarEvent[] {
  const inOrder = events.sort((a, b) => a.from - b.from || a.until - b.until);
  const [past = [], coming = []] = [true, false].map((isOver) =>
    inOrder.filter(({ until }) => until <= now === isOver),
  );
  const kept = coming.slice(0, limits.calendarEvents);
  const left = limits.calendarEvents - kept.length;
  return [...past.slice(Math.max(0, past.length - left)), ...kept];
}

/** A file may have several calendars. */
function parse(text: string): Calendar[] {
  if (!/^\s*BEGIN:VCALENDAR/i.test(text.replace(/^\uFEFF/, '')))
    throw new Error('it is no iCalendar file: it does not begin with BEGIN:VCALENDAR');
  try {
    const parsed = ICAL.parse(text.replace(/^\uFEFF/, '')) as unknown[];
    const roots = Array.isArray(parsed[0]) ? (parsed as unknown[][]) : [parsed];
    return roots.map((root) => new Calendar(root));
  } catch (error) {
    throw new Error(`it cannot be read as iCalendar: ${(error as Error).message}`);
  }
}

/**
 * In order of time; undefined for one that is cancelled, too long ago, or moved: a moved one is an event of its own, also when the
 * file has it alone. Ends after the file's range.
 */
function* occurrences(event: ICAL.Event, file: CalendarFile): Generator<CalendarEvent | undefined> {
  if (!event.startDate) return;
  if (!event.isRecurring() || event.isRecurrenceException())
    return yield eventAt(event, event.startDate, file);
  // Wall times differ from times by less than two days, and finding the time of each would take long.
  const length = wallOf(event.endDate) - wallOf(event.startDate);
  const [first, last] = [file.from - length - 2 * dayMs, file.until + 2 * dayMs];
  const isInRange = (wall: number) => wall >= first || event.rangeExceptions.length > 0;
  const iterator = event.iterator();
  for (let start = iterator.next(); start; start = iterator.next()) {
    const wall = wallOf(start);
    if (wall >= last) return;
    yield isInRange(wall) ? occurrenceAt(event, start, file) : undefined;
  }
}

function occurrenceAt(event: ICAL.Event, start: ICAL.Time, file: CalendarFile): CalendarEvent | undefined {
  const { item, startDate } = event.getOccurrenceDetails(start);
  // An exception that also changes those after it is the item of each, at their times.
  const isMoved = item.isRecurrenceException() && startDate === item.startDate;
  return isMoved ? undefined : eventAt(item, startDate, file);
}

function eventAt(event: ICAL.Event, start: ICAL.Time, { timeZone }: CalendarFile): CalendarEvent | undefined {
  if (String(event.component.getFirstPropertyValue('status')).toUpperCase() === 'CANCELLED') return undefined;
  // In wall time: a shift from nine to nine ends at nine, also when the clock changes within it.
  const length = wallOf(event.endDate) - wallOf(event.startDate);
  const isOneZone = event.endDate.zone.tzid === event.startDate.zone.tzid;
  const from = timeOf(start, timeZone);
  const until = isOneZone
    ? timeOf(start, timeZone, length)
    : from + timeOf(event.endDate, timeZone) - timeOf(event.startDate, timeZone);
  return { from, until, text: textOf(event) };
}

/** The time `laterMs` after it, as the wall clock of its zone shows it. */
function timeOf(time: ICAL.Time, timeZone: string, laterMs = 0): number {
  const wall = wallOf(time) + laterMs;
  if (time.zone instanceof NamedZone) return zonedTime(wall, time.zone.tzid);
  if (time.isDate || time.zone === ICAL.Timezone.localTimezone) return zonedTime(wall, timeZone);
  const later = time.clone();
  later.addDuration(ICAL.Duration.fromSeconds(laterMs / 1000));
  return later.toUnixTime() * 1000;
}

const wallOf = ({ year, month, day, hour, minute, second }: ICAL.Time): number =>
  Date.UTC(year, month - 1, day, hour, minute, second);

function isNamedZone(tzid: string): boolean {
  try {
    zoneOffset(0, tzid);
    return /^[A-Za-z]/.test(tzid);
  } catch {
    return false;
  }
}

/** The title, and after it the names and addresses of the attendees who have not declined, a line each. */
function textOf({ component }: ICAL.Event): string {
  const title = String(component.getFirstPropertyValue('summary') ?? '');
  const attendees = component.getAllProperties('attendee').flatMap((each) => {
    if (each.getFirstParameter('partstat')?.toUpperCase() === 'DECLINED') return [];
    const name = each.getFirstParameter('cn');
    return [name, String(each.getFirstValue()).replace(/^mailto:/i, '')];
  });
  const lines = [title, ...attendees].map((line) => (line ?? '').replaceAll(/\s+/g, ' ').trim());
  return lines.join('\n').slice(0, mostTextChars).trimEnd();
}
