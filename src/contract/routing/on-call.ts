/** On-call schedules: who takes care of alarms at which time, by a weekly rota or by a calendar. */
import { type Static, Type } from 'typebox';
import { limits } from '../limits.ts';
import { closed, component, Instant, Name, NullableInstant, nullable } from '../schema.ts';
import { RuleWindow } from './rule.ts';

const { onCallNames } = limits;

export const OnCallPanels = Type.Union(
  [
    closed({ ids: Type.Array(Type.String(), { minItems: 1, maxItems: onCallNames }) }),
    closed({
      tags: Type.Array(Type.String({ maxLength: limits.tagChars }), { minItems: 1, maxItems: onCallNames }),
    }),
  ],
  { errorMessage: 'must be {"ids": […]} or {"tags": […]}' },
);

/** Somebody who can be on call, and where they are reached. */
export const OnCallPerson = component('OnCallPerson', {
  name: Name,
  channels: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      maxItems: limits.channelsPerTenant,
      uniqueItems: true,
      description: 'Channels that reach them, by id or name; kept by id.',
    }),
  ),
  panels: Type.Optional({ ...OnCallPanels, description: 'Panels that reach them, such as their phone.' }),
  calendarNames: Type.Optional(
    Type.Array(Name, {
      maxItems: 20,
      description: 'Other names and mail addresses by which a calendar names them; case does not count.',
    }),
  ),
});
export type OnCallPerson = Static<typeof OnCallPerson>;

const RotaShift = closed({
  ...RuleWindow.properties,
  people: Type.Array(Name, {
    minItems: 1,
    maxItems: 50,
    description: 'Names of `people`, who take turns week by week; with one name always the same.',
  }),
});

export const Rota = closed(
  {
    firstWeek: Type.String({
      pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
      errorMessage: 'must be a day, as in 2026-11-30',
      description:
        'A day on which a week begins in which the first name of each shift has the turn. Weeks before and after it follow in order.',
    }),
    shifts: Type.Array(RotaShift, {
      minItems: 1,
      maxItems: 20,
      description: 'In the wall time of the time zone. A shift belongs to the day on which it begins.',
    }),
  },
  { description: 'A weekly plan. Shifts may overlap: then several people are on call.' },
);
export type Rota = Static<typeof Rota>;

const Calendar = closed(
  {
    url: Type.String({
      minLength: 1,
      maxLength: limits.urlChars,
      description:
        'The http(s) address of an iCalendar file (.ics). Below the role admin, its origin alone is answered.',
    }),
  },
  { description: 'A calendar that Belfry reads every five minutes. Its events name who is on call.' },
);

const editable = {
  name: Name,
  timeZone: Type.String({ minLength: 1, maxLength: 64, description: 'IANA name, as in Europe/Berlin.' }),
  people: Type.Array(OnCallPerson, { minItems: 1, maxItems: 50 }),
  rota: nullable(Rota, { description: 'Either this or `calendar`.' }),
  calendar: nullable(Calendar),
  alertBeforeMs: Type.Integer({
    minimum: 0,
    maximum: 14 * 86_400_000,
    description:
      'So long before a time at which nobody is on call, Belfry sends an alarm. 24 hours if not given; 0: none.',
  }),
};

const names = Type.Array(Type.String(), { description: 'Names of people.' });

/** Who is on call from one time to another. */
export const OnCallShift = closed({
  from: nullable(Instant, { description: 'null: before now, and further back than Belfry looks.' }),
  until: nullable(Instant, { description: 'null: further than Belfry looks ahead.' }),
  people: { ...names, description: 'Names of people; none: nobody is on call.' },
});
export type OnCallShift = Static<typeof OnCallShift>;

export const OnCallSchedule = component('OnCallSchedule', {
  id: Type.String(),
  ...editable,
  createdAt: Instant,
  updatedAt: Instant,
  now: { ...OnCallShift, description: 'Who is on call now.' },
  next: nullable(OnCallShift, { description: 'Who is on call after that.' }),
  gap: nullable(closed({ from: NullableInstant, until: NullableInstant }), {
    description: 'The first time of the next two weeks at which nobody is on call; null in it as in a shift.',
  }),
  calendarState: nullable(
    closed({
      readAt: nullable(Instant, { description: 'When it was last read without error.' }),
      failingSince: NullableInstant,
      error: nullable(Type.String(), { description: 'Why it cannot be read; only for admins.' }),
      unknown: Type.Array(Type.String(), {
        description: 'Titles of events of the next two weeks that name nobody of `people`: the first ten.',
      }),
      leftOut: Type.Array(
        closed({
          title: Type.String(),
          reason: Type.Enum(['unreadable', 'repeats-too-often', 'no-length'], {
            description: 'no-length: it ends when it begins.',
          }),
        }),
        { description: 'Events that cannot be used; the others count. The first ten.' },
      ),
    }),
    { description: 'Runtime state of the calendar; null without one.' },
  ),
});
export type OnCallSchedule = Static<typeof OnCallSchedule>;

export const OnCallList = component('OnCallList', { schedules: Type.Array(OnCallSchedule) });
export type OnCallList = Static<typeof OnCallList>;

export const OnCallDetail = component('OnCallDetail', {
  ...OnCallSchedule.properties,
  shifts: Type.Array(OnCallShift, { description: 'The next two weeks, without pauses between them.' }),
});
export type OnCallDetail = Static<typeof OnCallDetail>;

export const OnCallCreate = component('OnCallCreate', {
  name: editable.name,
  people: editable.people,
  timeZone: Type.Optional(editable.timeZone),
  rota: Type.Optional(editable.rota),
  calendar: Type.Optional(editable.calendar),
  alertBeforeMs: Type.Optional(editable.alertBeforeMs),
});
export type OnCallCreate = Static<typeof OnCallCreate>;

export const OnCallPatch = Type.Partial(OnCallCreate, { title: 'OnCallPatch', additionalProperties: false });
export type OnCallPatch = Static<typeof OnCallPatch>;

export const OnCallPreview = component('OnCallPreview', {
  timeZone: Type.Optional(editable.timeZone),
  people: editable.people,
  rota: Rota,
});
export type OnCallPreview = Static<typeof OnCallPreview>;
export const OnCallPreviewed = component('OnCallPreviewed', { shifts: OnCallDetail.properties.shifts });
export type OnCallPreviewed = Static<typeof OnCallPreviewed>;

/** A schedule with the default of each field that was not given; the time zone's is the tenant's. */
export type OnCallFields = Required<OnCallCreate>;

/** On the overview: who is on call now, and who is next. */
export const OnCallSummary = closed({
  id: Type.String(),
  name: Type.String(),
  timeZone: Type.String(),
  now: OnCallShift,
  next: nullable(OnCallShift),
  calendarFailingSince: nullable(Instant, {
    description: 'Since when its calendar cannot be read; null: it can be read, or there is none.',
  }),
});
export type OnCallSummary = Static<typeof OnCallSummary>;
