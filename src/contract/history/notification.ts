import { type Static, type TOptional, Type } from 'typebox';
import { limits } from '../limits.ts';
import { closed, component, Instant, NamedRef, NullableInstant, nullable } from '../schema.ts';
import {
  type FieldName,
  fieldNames,
  fieldOrLabel,
  LabelsSchema,
  mapOptionalTexts,
  type SentField,
  sentFields,
} from './fields.ts';
import { groupFields, maxGroupFields } from './similar.ts';

type NotifySchemas = {
  readonly [K in FieldName]: (typeof sentFields)[K] extends { readonly isRequired: true }
    ? (typeof sentFields)[K]['schema']
    : TOptional<(typeof sentFields)[K]['schema']>;
};

/**
 * POST /api/notify as documented. The handler reads the raw bytes itself (headers can stand in for fields, and the
 * order of checks is part of the promise), so this schema describes and is not what validates.
 */
export const NotifyBody = Type.Object(
  Object.fromEntries(
    fieldNames.map((name) => {
      const { header, description, schema, isRequired }: SentField = sentFields[name];
      const described = { ...schema, description: `${description} Header: ${header}.` };
      return [name, isRequired ? described : Type.Optional(described)];
    }),
  ) as unknown as NotifySchemas,
  { title: 'NotifyBody', description: 'Unknown fields are ignored. Each field can be a header instead.' },
);

export const NotifyAccepted = component('NotifyAccepted', {
  ok: Type.Literal(true),
  id: Type.String({ format: 'uuid' }),
  warning: Type.Optional(
    Type.String({
      description:
        'It is stored, but a field has a name of other software and was not read, its level is new to the tenant, or there was no room to expect the next one.',
    }),
  ),
});
export type NotifyAccepted = Static<typeof NotifyAccepted>;

/** By what similar notifications are one card: all of these values agree. */
export const GroupBy = Type.Array(fieldOrLabel(groupFields), {
  minItems: 1,
  maxItems: maxGroupFields,
  uniqueItems: true,
});

/** The sender's fields with Belfry's additions; times are ISO 8601 UTC. */
const content = {
  id: Type.String({ format: 'uuid' }),
  position: Type.Integer({ minimum: 1, description: "Place in the tenant's log: 1, 2, 3 …" }),
  title: Type.String(),
  message: Type.String(),
  level: Type.String(),
  rank: Type.Integer(),
  ttl: Type.Integer({ description: 'Milliseconds on panels; 0 stays until cleared.' }),
  ...mapOptionalTexts(() => nullable(Type.String())),
  labels: LabelsSchema,
  sourceIp: Type.String(),
  receivedAt: Instant,
  expiresAt: NullableInstant,
  escalated: nullable(
    closed(
      {
        times: Type.Integer({ minimum: 1, description: 'How often its alarm was escalated.' }),
        since: Type.String({
          format: 'date-time',
          description: 'When the first notification of its alarm was received.',
        }),
      },
      { description: 'Set for an escalation and for the repeats that replace it.' },
    ),
  ),
  group: Type.Optional({
    ...GroupBy,
    description: 'By what a rule groups it on panels (`then.group`); absent: by its title.',
  }),
};

export const Acknowledged = closed({
  at: Type.String({ format: 'date-time', description: 'Of a repeat that took this over: when it came.' }),
  by: Type.String({ description: 'The display name of a person, or the name of a token or key.' }),
  note: nullable(Type.String()),
  until: nullable(Instant, {
    description: 'When the alarm is open again by itself; null: it stays acknowledged.',
  }),
});

export const AcknowledgeAccepted = component('AcknowledgeAccepted', {
  ok: Type.Literal(true),
  id: Type.String({
    description: 'The notification that is acknowledged: the given one, or what stands in its place now.',
  }),
  first: Type.Boolean({ description: 'false: somebody did so before, as `acknowledged` says.' }),
  acknowledged: Acknowledged,
});
export type AcknowledgeAccepted = Static<typeof AcknowledgeAccepted>;

/** The data of the stream's `notification` event. */
export const NotificationEvent = Type.Object(
  {
    ...content,
    remainingMs: nullable(
      Type.Integer({ description: 'Time left on panels when sent; null stays until cleared.' }),
    ),
    count: Type.Integer({ minimum: 0, description: 'How many more a throttle has counted on this one.' }),
    acknowledged: nullable(Acknowledged),
    instructions: Type.Optional(
      Type.String({
        description: 'What to do, as the rules that matched say when this is sent; absent: they say nothing.',
      }),
    ),
  },
  { title: 'NotificationEvent' },
);
export type NotificationEvent = Static<typeof NotificationEvent>;

export const PanelsTarget = Type.Union(
  [
    Type.Literal('all'),
    Type.Literal('none'),
    closed({ ids: Type.Array(Type.String(), { minItems: 1, maxItems: 1000 }) }),
    closed({ tags: Type.Array(Type.String({ maxLength: limits.tagChars }), { minItems: 1, maxItems: 100 }) }),
  ],
  {
    title: 'PanelsTarget',
    errorMessage: 'must be "all", "none", {"ids": […]} or {"tags": […]}',
  },
);
export type PanelsTarget = Static<typeof PanelsTarget>;

export const historyStates = [
  'live',
  'shelved',
  'suppressed',
  'expired',
  'cleared',
  'muted',
  'throttled',
  'unrouted',
] as const;

/** A notification as history returns it. */
export const HistoryNotification = component('HistoryNotification', {
  ...content,
  state: Type.Enum([...historyStates], {
    description:
      'live: on its panels now; shelved: off them until a time; suppressed: off them while its cause stands; unrouted: no panel was chosen; throttled: counted on an earlier one.',
  }),
  token: NamedRef,
  origin: nullable(
    Type.String({
      description:
        'What of Belfry sent it, as in "belfry:expectation", here in the place of the token; null: the token sent it.',
    }),
  ),
  rules: Type.Array(NamedRef, {
    description: 'The rules that matched, in order, by the names they had then.',
  }),
  target: closed(
    {
      all: Type.Boolean(),
      ids: Type.Array(Type.String()),
      tags: Type.Array(Type.String()),
    },
    { description: 'The panels that routing chose.' },
  ),
  panels: Type.Array(NamedRef, { description: 'The registered panels this reaches, at most 50 of them.' }),
  panelCount: Type.Integer({ minimum: 0 }),
  sent: closed(
    { level: Type.String(), ttl: nullable(Type.Integer()) },
    { description: 'Level and ttl as the sender gave them, before rules.' },
  ),
  throttledOn: nullable(
    Type.String({ format: 'uuid', description: 'The notification this one was counted on.' }),
  ),
  cleared: nullable(
    closed({
      at: Instant,
      by: Type.String(),
      reason: Type.Enum(['cleared', 'replaced']),
    }),
  ),
  acknowledged: nullable(Acknowledged),
  receipts: closed(
    { shown: Type.Integer(), expired: Type.Integer(), cleared: Type.Integer() },
    { description: 'How many panels reported each.' },
  ),
});
export type HistoryNotification = Static<typeof HistoryNotification>;

export const HistoryPage = component('HistoryPage', {
  notifications: Type.Array(HistoryNotification),
  nextCursor: nullable(Type.String({ description: 'Opaque; null on the last page.' })),
  searchedTo: nullable(
    Type.String({
      format: 'date-time',
      description:
        'Set when the search ran out of time: it has found what was received since then. nextCursor continues from there. Otherwise null.',
    }),
  ),
});
export type HistoryPage = Static<typeof HistoryPage>;

/** The next notification of a key is expected in time. */
export const Expectation = component('Expectation', {
  key: Type.String(),
  state: Type.Enum(['waiting', 'overdue']),
  everyMs: nullable(Type.Integer({ minimum: 1 }), {
    description: 'The interval that the sender named, if any.',
  }),
  cron: nullable(Type.String(), { description: 'The cron expression that the sender named, if any.' }),
  timeZone: nullable(Type.String(), { description: 'The time zone of `cron`.' }),
  graceMs: Type.Integer({ minimum: 0, description: 'How much later the next one may come.' }),
  isRunning: Type.Boolean({
    description: 'The last notification said that work began: its end is expected within `graceMs`.',
  }),
  level: Type.String({
    description: 'Level of the notification that Belfry sends when the next one does not come in time.',
  }),
  title: Type.String({ description: 'Of the last notification.' }),
  host: nullable(Type.String()),
  token: NamedRef,
  lastAt: Type.String({ format: 'date-time', description: 'When the last one came.' }),
  overdueAt: Type.String({
    format: 'date-time',
    description: 'Until then, which includes the grace, the next one may come.',
  }),
  notificationId: nullable(Type.String({ format: 'uuid' }), {
    description: 'The notification that Belfry sent because the next one did not come; null before that.',
  }),
});
export type Expectation = Static<typeof Expectation>;

export const ExpectationList = component('ExpectationList', { expectations: Type.Array(Expectation) });
