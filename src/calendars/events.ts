/** The events of an iCalendar file (RFC 5545), repeating ones listed one by one. */
import ICAL from 'ical.js';
import { limits } from '#contract/limits.ts';
import type { CalendarCopy } from '#core/on-call/on-call.ts';
import type { CalendarEvent, LeftOutEvent } from '#core/on-call/stints.ts';
import { zonedTime, zoneOffset } from '#core/time/time.ts';
import { PatternSearch } from './pattern-search.ts';

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

/** Of one event: one that repeats every second would go on for ever. */
const mostSteps = 30_000;
/** Of all events that repeat; those after it are left out. */
const mostStepsTogether = 100_000;
const mostLeftOut = 10;
const mostTextChars = 200;
const dayMs = 86_400_000;
/** A hundred years. */
const mostDurationS = 36_525 * 86_400;

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
 * @returns events in order of time, at most `limits.calendarEvents`; cancelled ones are left out. An event that cannot be read,
 * repeats too often or has no length is left out, too, and named in `leftOut`.
 * @throws Error with a sentence for people when the whole file cannot be read.
 */
export function eventsOf(file: CalendarFile): CalendarCopy {
  const leftOut = new LeftOut();
  const components = parse(file.text, leftOut).flatMap((each) => each.getAllSubcomponents('vevent'));
  const events: CalendarEvent[] = [];
  const exceptions = Map.groupBy(components.filter(isReadableException), (each) =>
    String(each.getFirstPropertyValue('uid')),
  );
  let steps = 0;
  const search = new PatternSearch(file.until);
  for (const component of components) {
    const isException = component.hasProperty('recurrence-id');
    const own = isException ? [] : (exceptions.get(String(component.getFirstPropertyValue('uid'))) ?? []);
    const most = Math.min(mostSteps, mostStepsTogether - steps);
    const listed = listEvent(component, own, { file, most, search });
    steps += listed.steps;
    if (listed.problem) leftOut.add(titleOf(component), listed.problem);
    else events.push(...listed.events);
  }
  return {
    events: mostImportant(events, file.now),
    until: file.until,
    ...(leftOut.events.length > 0 && { leftOut: leftOut.events }),
  };
}

/** One whose times cannot be read is no exception, so that the event that it belongs to still counts. */
function isReadableException(component: ICAL.Component): boolean {
  try {
    requireUsualDuration(component);
    const { startDate, endDate } = new ICAL.Event(component);
    const hasTimes = (startDate && endDate) || isCancelled(component);
    return component.getFirstPropertyValue('recurrence-id') instanceof ICAL.Time && Boolean(hasTimes);
  } catch {
    return false;
  }
}

const isCancelled = (component: ICAL.Component): boolean =>
  String(component.getFirstPropertyValue('status')).toUpperCase() === 'CANCELLED';

/** The first events that are left out, each title and reason once. */
class LeftOut {
  readonly events: LeftOutEvent[] = [];

  add(title: string, reason: LeftOutEvent['reason']): void {
    const isKnown = this.events.some((each) => each.title === title && each.reason === reason);
    if (!isKnown && this.events.length < mostLeftOut) this.events.push({ title, reason });
  }
}

interface Listed {
  readonly events: readonly CalendarEvent[];
  readonly problem?: LeftOutEvent['reason'] | undefined;
  readonly steps: number;
}

/** The times of one event within the range of the file, after at most `most` steps if it repeats. */
function listEvent(
  component: ICAL.Component,
  exceptions: ICAL.Component[],
  {
    file,
    most,
    search,
  }: { readonly file: CalendarFile; readonly most: number; readonly search: PatternSearch },
): Listed {
  const events: CalendarEvent[] = [];
  let steps = 0;
  let hasNoLength = false;
  try {
    search.bound(component);
    requireUsualDuration(component);
    const event = new ICAL.Event(component, { exceptions });
    const isRepeating = event.isRecurring() && !event.isRecurrenceException();
    for (const found of occurrences(event, file)) {
      if (isRepeating && ++steps > most) return { events, problem: 'repeats-too-often', steps };
      if (!found || found.from >= file.until) continue;
      // One of a repeating event may have no length only because the clock skips that hour.
      if (found.until <= found.from) hasNoLength ||= found.from >= file.now;
      else if (found.until > file.from) events.push(found);
    }
    return { events, problem: hasNoLength && events.length === 0 ? 'no-length' : undefined, steps };
  } catch {
    return { events, problem: search.isExhausted ? 'repeats-too-often' : 'unreadable', steps };
  }
}

/** @throws Error when ical.js would take long to add it. */
function requireUsualDuration(component: ICAL.Component): void {
  const duration = component.getFirstPropertyValue('duration');
  if (duration instanceof ICAL.Duration && Math.abs(duration.toSeconds()) > mostDurationS)
    throw new Error('the event is too long');
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

/** A file may have several calendars. If it cannot be read, it is read without those events that cannot be read alone. */
function parse(text: string, leftOut: LeftOut): Calendar[] {
  const file = text.replace(/^\uFEFF/, '');
  if (!/^\s*BEGIN:VCALENDAR/i.test(file))
    throw new Error('it is no iCalendar file: it does not begin with BEGIN:VCALENDAR');
  try {
    return calendarsOf(file);
  } catch {
    try {
      return calendarsOf(withoutUnreadable(file, leftOut));
    } catch (error) {
      throw new Error(`it cannot be read as iCalendar: ${(error as Error).message}`);
    }
  }
}

function calendarsOf(text: string): Calendar[] {
  const parsed = ICAL.parse(text) as unknown[];
  const roots = Array.isArray(parsed[0]) ? (parsed as unknown[][]) : [parsed];
  return roots.map((root) => new Calendar(root));
}

function withoutUnreadable(text: string, leftOut: LeftOut): string {
  const [head = '', ...rest] = text.split(/^(?=BEGIN:VEVENT\b)/im);
  const kept = rest.map((part) => {
    const end = /^END:VEVENT\s*/im.exec(part);
    if (!end) return part;
    const event = part.slice(0, end.index + end[0].length);
    try {
      ICAL.parse(event);
      return part;
    } catch {
      // Long lines are folded: the next one begins with white space.
      const [, title = ''] =
        /^SUMMARY(?:[^:"\n]|"[^"\n]*")*:(.*)$/im.exec(event.replaceAll(/\r?\n[ \t]/g, '')) ?? [];
      leftOut.add(shortTitle(title.replaceAll(/\\(.)/g, '$1')), 'unreadable');
      return part.slice(event.length);
    }
  });
  return head + kept.join('');
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
  const length = lengthOf(event);
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
  if (isCancelled(event.component)) return undefined;
  // In wall time: a shift from nine to nine ends at nine, also when the clock changes within it.
  const length = lengthOf(event);
  const isOneZone = event.endDate.zone.tzid === event.startDate.zone.tzid;
  const from = timeOf(start, timeZone);
  const until = isOneZone
    ? timeOf(start, timeZone, length)
    : from + timeOf(event.endDate, timeZone) - timeOf(event.startDate, timeZone);
  return { from, until, text: textOf(event) };
}

/** In wall time; a whole day without an end, or with an end on the same day, is one day. */
function lengthOf(event: ICAL.Event): number {
  const length = wallOf(event.endDate) - wallOf(event.startDate);
  return event.startDate.isDate && length === 0 ? dayMs : length;
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

/** On one line, without characters that turn or hide text; joiners stay, because emoji and several scripts need them. */
const plainLine = (text: string): string =>
  text
    .replaceAll(
      /(?!\u200c|\u200d|[\ufe00-\ufe0f])[\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Cs}]/gu,
      '',
    )
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim();

const cut = (text: string): string =>
  text
    .slice(0, mostTextChars)
    .toWellFormed()
    .replace(/\ufffd$/, '');

const shortTitle = (title: string): string => cut(plainLine(title)) || '-';

function titleOf(component: ICAL.Component): string {
  try {
    return shortTitle(String(component.getFirstPropertyValue('summary') ?? ''));
  } catch {
    return '-';
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
  return cut([title, ...attendees].map((line) => plainLine(line ?? '')).join('\n')).trimEnd();
}
