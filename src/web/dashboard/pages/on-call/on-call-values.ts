/** The values of an on-call schedule's form. */
import type { OnCallCreate, OnCallPerson, OnCallSchedule, Rota } from '#contract/routing/on-call.ts';
import { weekdays } from '#contract/time.ts';

export interface PersonValues {
  readonly name: string;
  readonly channels: string[];
  /** By what their panels are chosen. */
  readonly by: 'none' | 'ids' | 'tags';
  readonly ids: string[];
  readonly tags: string[];
  readonly calendarNames: string[];
}

export type ShiftValues = Rota['shifts'][number];

export interface OnCallValues {
  readonly name: string;
  readonly timeZone: string;
  readonly people: PersonValues[];
  readonly source: 'rota' | 'calendar';
  readonly firstWeek: string;
  readonly shifts: ShiftValues[];
  readonly url: string;
  readonly isAlerting: boolean;
  readonly alertBeforeMs: number;
}

const dayMs = 86_400_000;
export const newPerson: PersonValues = {
  ...{ name: '', channels: [], by: 'none', ids: [], tags: [], calendarNames: [] },
};

/** The week from nine on Monday to nine on the next Monday. */
export const newShift = (people: string[]): ShiftValues => ({
  ...{ days: [...weekdays], from: '09:00', until: '09:00', people },
});

export function valuesOf(schedule: OnCallSchedule | undefined, timeZone: string): OnCallValues {
  const now = new Date();
  // 1970 began with a Thursday.
  const monday = Math.floor((now.getTime() / dayMs + 3) / 7) * 7 - 3;
  const empty = { firstWeek: new Date(monday * dayMs).toISOString().slice(0, 10), shifts: [newShift([])] };
  if (!schedule)
    return {
      ...{ name: '', timeZone, people: [newPerson], source: 'rota', url: '', ...empty },
      ...{ isAlerting: true, alertBeforeMs: dayMs },
    };
  const { rota, calendar, alertBeforeMs } = schedule;
  return {
    name: schedule.name,
    timeZone: schedule.timeZone,
    people: schedule.people.map(personOf),
    source: rota ? 'rota' : 'calendar',
    ...(rota ?? empty),
    url: calendar?.url ?? '',
    isAlerting: alertBeforeMs > 0,
    alertBeforeMs: alertBeforeMs > 0 ? alertBeforeMs : dayMs,
  };
}

const personOf = ({ name, channels = [], panels, calendarNames = [] }: OnCallPerson): PersonValues => ({
  ...newPerson,
  ...{ name, channels, calendarNames },
  ...(panels && ('ids' in panels ? { by: 'ids', ids: panels.ids } : { by: 'tags', tags: panels.tags })),
});

/** By the path of the field. */
export function problemsOf(
  { name, people, source, firstWeek, shifts, url, isAlerting, alertBeforeMs }: OnCallValues,
  texts: Readonly<Record<'needed' | 'twice' | 'firstWeekWrong', string>>,
): Record<string, string> {
  const { needed } = texts;
  const problems: Record<string, string> = {};
  if (name.trim() === '') problems.name = needed;
  const names = new Set<string>();
  for (const [i, person] of people.entries()) {
    const own = person.name.trim();
    if (own === '') problems[`people.${i}.name`] = needed;
    else if (names.has(own)) problems[`people.${i}.name`] = texts.twice;
    if (person.by !== 'none' && person[person.by].length === 0) problems[`people.${i}.panels`] = needed;
    names.add(own);
  }
  if (source === 'calendar' && url.trim() === '') problems.url = needed;
  if (source === 'rota') {
    if (!/^\d{4}-\d\d-\d\d$/.test(firstWeek) || Number.isNaN(Date.parse(firstWeek)))
      problems.firstWeek = texts.firstWeekWrong;
    for (const [i, shift] of shifts.entries())
      if (shift.people.length === 0) problems[`shifts.${i}.people`] = needed;
  }
  if (isAlerting && !(alertBeforeMs > 0)) problems.alertBeforeMs = needed;
  return problems;
}

/** What is sent. */
export function bodyOf(values: OnCallValues): Required<OnCallCreate> {
  const { name, timeZone, people, source, firstWeek, shifts, url, isAlerting, alertBeforeMs } = values;
  return {
    ...{ name, timeZone },
    people: people.map(({ channels, by, ids, tags, calendarNames, ...person }) => ({
      name: person.name.trim(),
      ...(channels.length > 0 && { channels }),
      ...(by === 'ids' && { panels: { ids } }),
      ...(by === 'tags' && { panels: { tags } }),
      ...(calendarNames.length > 0 && { calendarNames }),
    })),
    rota: source === 'rota' ? { firstWeek, shifts } : null,
    calendar: source === 'calendar' ? { url: url.trim() } : null,
    alertBeforeMs: isAlerting ? alertBeforeMs : 0,
  };
}

/** With another name of a person, also in the shifts. */
export function withPerson(values: OnCallValues, at: number, person: PersonValues): OnCallValues {
  const before = values.people[at]?.name.trim();
  const people = values.people.with(at, person);
  const name = person.name.trim();
  if (name === before || before === '' || name === '') return { ...values, people };
  const shifts = values.shifts.map((shift) => ({
    ...shift,
    people: shift.people.map((each) => (each === before ? name : each)),
  }));
  return { ...values, people, shifts };
}

/** Without a person, also in the shifts. */
export function withoutPerson(values: OnCallValues, at: number): OnCallValues {
  const gone = values.people[at]?.name.trim();
  const shifts = values.shifts.map((shift) => ({
    ...shift,
    people: shift.people.filter((each) => each !== gone),
  }));
  return { ...values, people: values.people.toSpliced(at, 1), shifts };
}
