/** What stands now: alarms, and what people do about them. */
import { type Static, Type } from 'typebox';
import { limits } from '../limits.ts';
import { NotificationDetail } from '../routing/routing.ts';
import { closed, component, Instant, NamedRef, nullable } from '../schema.ts';
import { alarmStates, type StandingState, standingStates } from './alarm-states.ts';
import { Acknowledged, HistoryNotification } from './notification.ts';

const note = Type.String({
  maxLength: 500,
  // PostgreSQL stores neither.
  pattern: '^[^\\u0000\\ud800-\\udfff]*$',
  errorMessage: 'must have at most 500 characters, and no U+0000 or half of a surrogate pair',
  description: 'For the others, as in "on my way".',
});
const forMs = Type.Integer({
  minimum: 1_000,
  maximum: limits.shelfMs,
  description: 'Milliseconds from now.',
});
const lasts = Type.Union([Type.Literal(0), forMs], {
  errorMessage: `must be 0, or milliseconds from 1000 to ${limits.shelfMs}`,
  description:
    'It is open again after these milliseconds; 0: it stays acknowledged. Absent: as the rule (`then.acknowledgeForMs`) or else the level says.',
});
const untilMs = Type.Integer({
  minimum: 0,
  maximum: 8_640_000_000_000_000,
  description: 'Unix milliseconds.',
});

export const Shelved = closed({
  by: Type.String({ description: 'The display name of a person, or the name of a token or key.' }),
  at: Instant,
  until: Type.String({ format: 'date-time', description: 'When it comes back by itself.' }),
  note: nullable(Type.String()),
});

const { state: _, ...newest } = HistoryNotification.properties;

/** Fields of the newest notification, and what the alarm remembers of all. */
export const Alarm = component('Alarm', {
  ...newest,
  state: Type.Enum([...alarmStates]),
  since: Type.String({
    format: 'date-time',
    description: 'When the first notification of the alarm was received.',
  }),
  count: Type.Integer({
    minimum: 1,
    description: 'Its notifications, also those that throttles counted, but not those that escalated it.',
  }),
  highestLevel: Type.String({ description: 'The highest level that one of them had.' }),
  shelved: nullable(Shelved),
  owner: nullable(NamedRef, { description: 'The person who takes care of it, if one was named.' }),
  suppressedBy: nullable(closed({ id: Type.String({ format: 'uuid' }), title: Type.String() }), {
    description:
      'The alarm that is its cause (`then.suppress` of a rule): it is off the panels while that one stands.',
  }),
  suppresses: Type.Integer({
    minimum: 0,
    description:
      'How many alarms are off the panels as long as this one stands, with those that the suppressed ones suppress. 0 while it is suppressed itself: they count for its cause.',
  }),
  escalation: NotificationDetail.properties.escalation,
  instructions: NotificationDetail.properties.instructions,
  runbook: nullable(Type.String(), {
    description: 'The label `runbook_url` of its newest notification, if it is an http or https link.',
  }),
  shownOn: Type.Array(NamedRef, { description: 'Panels that have reported showing it, at most 50 of them.' }),
});
export type Alarm = Static<typeof Alarm>;

export const AlarmPage = component('AlarmPage', {
  alarms: Type.Array(Alarm),
  counts: closed(
    Object.fromEntries(standingStates.map((state) => [state, Type.Integer({ minimum: 0 })])) as Record<
      StandingState,
      ReturnType<typeof Type.Integer>
    >,
    { description: 'How many alarms that match the search are in each state.' },
  ),
  nextCursor: nullable(Type.String()),
});
export type AlarmPage = Static<typeof AlarmPage>;

/** What people did, and what happened by itself when a time ended. */
export const alarmEvents = [
  'acknowledge',
  'unacknowledge',
  'shelve',
  'unshelve',
  'suppress',
  'unsuppress',
  'assign',
  'clear',
] as const;
export type AlarmEvent = (typeof alarmEvents)[number];

export const AlarmDetail = component('AlarmDetail', {
  ...Alarm.properties,
  suppressedAlarms: Type.Array(
    closed({
      id: Type.String({ format: 'uuid' }),
      level: Type.String(),
      title: Type.String(),
      host: nullable(Type.String()),
    }),
    { description: 'Those that it suppresses, the highest level first, at most 100 of them.' },
  ),
  notifications: Type.Array(HistoryNotification, {
    description: 'Those of the alarm, newest first, at most 100 of them.',
  }),
  events: Type.Array(
    closed({
      event: Type.Enum([...alarmEvents]),
      id: Type.String({ format: 'uuid', description: 'The notification that stood then.' }),
      at: Instant,
      by: Type.String({
        description:
          'Who did it; "belfry" when a time ended or nothing suppresses it any more; of `suppress` the id of the cause.',
      }),
      note: nullable(Type.String(), {
        description: 'Of `assign` the name of the owner; null: nobody. Of `suppress` the title of the cause.',
      }),
      until: nullable(Instant),
    }),
    { description: 'What was done about it, newest first, at most 100.' },
  ),
});
export type AlarmDetail = Static<typeof AlarmDetail>;

export const AcknowledgeAlarm = component('AcknowledgeAlarm', {
  note: Type.Optional(note),
  forMs: Type.Optional(lasts),
  take: Type.Optional(
    Type.Boolean({ description: 'true: also when somebody else has acknowledged it, in their place.' }),
  ),
});

export const AlarmAcknowledged = component('AlarmAcknowledged', {
  ok: Type.Literal(true),
  id: Type.String({ description: 'The notification that stands now, to which this applied.' }),
  first: Type.Boolean({ description: 'false: somebody else had acknowledged it, as `acknowledged` says.' }),
  acknowledged: Acknowledged,
});

export const ShelveAlarm = component('ShelveAlarm', {
  forMs: Type.Optional(forMs),
  untilMs: Type.Optional(untilMs),
  note: Type.Optional(note),
});

const userId = nullable(Type.String(), {
  description: 'A member of the tenant, by the `id` in `GET /api/members`; null: nobody.',
});
export const AssignAlarm = component('AssignAlarm', { userId });

export const ClearAlarm = component('ClearAlarm', { note: Type.Optional(note) });

/** `changed` is false when there was nothing to do: it has ended, or is not in the state that this would end. */
export const AlarmChanged = component('AlarmChanged', {
  ok: Type.Literal(true),
  id: Type.String({ description: 'The notification that stands now, to which this applied.' }),
  changed: Type.Boolean({ description: 'false: it has ended, or there was nothing to take back.' }),
});

export const alarmActions = [
  'acknowledge',
  'unacknowledge',
  'shelve',
  'unshelve',
  'assign',
  'clear',
] as const;
export type AlarmAction = (typeof alarmActions)[number];

/** Either `ids` or `q`: all alarms that match the search and have not ended. */
export const AlarmActions = component('AlarmActions', {
  action: Type.Enum([...alarmActions]),
  ids: Type.Optional(
    Type.Array(Type.String({ format: 'uuid' }), { minItems: 1, maxItems: limits.alarmsAtOnce }),
  ),
  q: Type.Optional(Type.String({ maxLength: limits.queryChars })),
  state: Type.Optional(
    Type.Array(Type.Enum([...standingStates]), {
      minItems: 1,
      description: 'With q: only alarms in these states; all when absent.',
    }),
  ),
  note: Type.Optional(note),
  forMs: Type.Optional(lasts),
  untilMs: Type.Optional(untilMs),
  take: Type.Optional(Type.Boolean()),
  userId: Type.Optional(userId),
});
export type AlarmActions = Static<typeof AlarmActions>;

export const AlarmActionsDone = component('AlarmActionsDone', {
  done: Type.Integer({ description: 'Alarms that were changed.' }),
  failed: Type.Array(closed({ id: Type.String(), error: Type.String() }), {
    description: 'The others, with the reason.',
  }),
});
export type AlarmActionsDone = Static<typeof AlarmActionsDone>;
