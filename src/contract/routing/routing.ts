import { type Static, type TSchema, Type } from 'typebox';
import { ChannelDelivery } from '../channels/channel.ts';
import { LabelsSchema, mapOptionalTexts } from '../history/fields.ts';
import { HistoryNotification } from '../history/notification.ts';
import { limits } from '../limits.ts';
import { PanelReceipt } from '../panels/panel.ts';
import { closed, component, Instant, NamedRef, nullable } from '../schema.ts';
import { Level, LevelName } from './level.ts';
import { OnCallCreate } from './on-call.ts';
import { RuleCreate } from './rule.ts';

const DraftRules = Type.Array(closed({ id: Type.Optional(Type.String()), ...RuleCreate.properties }), {
  maxItems: 20_000,
});

const sent = <S extends TSchema>(schema: S) => Type.Optional(nullable(schema));

/** What a sender may send, and of a recorded notification what came with it. Other fields are ignored, as by /api/notify. */
const TypedNotification = Type.Object(
  {
    title: sent(Type.String()),
    message: sent(Type.String()),
    level: sent(Type.String()),
    ttl: sent(Type.Integer({ minimum: 0 })),
    ...mapOptionalTexts(() => sent(Type.String())),
    labels: sent(LabelsSchema),
    sourceIp: sent(Type.String()),
    token: sent(
      Type.Union([Type.String(), Type.Object({ id: Type.String(), name: Type.String() })], {
        description: 'Id or name of the token it would come by, or as a recorded notification has it.',
      }),
    ),
  },
  { description: 'Fields as for /api/notify, each of them optional; others are ignored.' },
);

/** POST /api/rules/explain: a typed or a recorded notification, against the rules in force or a draft set. */
export const ExplainRequest = component('ExplainRequest', {
  notification: Type.Union([
    Type.String({ description: 'The id of a recorded notification.' }),
    TypedNotification,
  ]),
  rules: Type.Optional(DraftRules),
  at: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'The time to judge windows by; now, or when it was received.',
    }),
  ),
});
export type ExplainRequest = Static<typeof ExplainRequest>;

export const ruleOutcomes = ['matched', 'failed', 'disabled', 'inactive', 'not-tried'] as const;

const suppressedBy = nullable(
  closed({
    id: Type.String({ format: 'uuid' }),
    title: Type.String(),
    rule: nullable(NamedRef, {
      description: 'The rule that suppresses it; null if it is no longer known.',
    }),
  }),
  {
    description:
      'The alarm that suppresses it (`then.suppress` of a rule), or did when a recorded one came: `suppressed` says whether it does now.',
  },
);

/** One rule's part in the walk. */
export const RuleTrace = component('RuleTrace', {
  id: Type.String(),
  name: Type.String(),
  outcome: Type.Enum([...ruleOutcomes]),
  reason: Type.String({ description: 'One sentence: the condition that failed, or what the rule did.' }),
  condition: Type.Optional(
    Type.String({ description: 'The first condition that failed, as in "host" or "not.ip".' }),
  ),
  onCall: Type.Optional(
    closed(
      { id: Type.String(), name: Type.String(), people: Type.Array(Type.String()) },
      { description: 'Who was on call by the schedule that it names (`then.onCall`).' },
    ),
  ),
  suppresses: Type.Optional(
    Type.Boolean({
      description:
        'true: it suppresses the notification (`then.suppress`), or did when it came; `reason` says which.',
    }),
  ),
});
export type RuleTrace = Static<typeof RuleTrace>;

/** What routing decided, for people. */
export const RoutingOutcome = component('RoutingOutcome', {
  level: Type.String(),
  rank: Type.Integer(),
  ttl: Type.Integer(),
  muted: Type.Boolean(),
  throttled: Type.Boolean(),
  suppressed: Type.Boolean({
    description:
      'true: another alarm suppresses it, so it is on no panel and in no channel. For a recorded notification: now. With `rules`: whether an alarm that stands now would suppress it by these rules.',
  }),
  suppressedBy,
  group: HistoryNotification.properties.group,
  acknowledgeForMs: Type.Optional(
    Type.Integer({
      description:
        'How long an acknowledgement lasts that names no time of its own, as the rules or the level say; absent: it does not end.',
    }),
  ),
  target: HistoryNotification.properties.target,
  panels: Type.Array(NamedRef, {
    description:
      'The panels this reaches, at most 50 of them; if it is suppressed, as soon as its cause has ended.',
  }),
  panelCount: Type.Integer({ minimum: 0 }),
  channels: Type.Array(NamedRef, { description: 'The channels that deliver it.' }),
  rules: Type.Array(RuleTrace, {
    description:
      'Every rule in order, at most 1,000: the first that was not tried, then those that matched, are kept before others.',
  }),
  rulesOmitted: Type.Integer({ minimum: 0 }),
});
export type RoutingOutcome = Static<typeof RoutingOutcome>;

/** POST /api/rules/replay: what a draft rule set would have changed. */
export const ReplayRequest = component('ReplayRequest', {
  rules: DraftRules,
  days: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, maximum: 90, description: 'How far back; 7 when not given.' }),
  ),
  levels: Type.Optional(
    Type.Array(
      closed({ name: LevelName, rank: Level.properties.rank, durationMs: Level.properties.durationMs }),
      {
        maxItems: 1_000,
        description: 'Levels as a draft has them, all of them; those in force if left out.',
      },
    ),
  ),
  panels: Type.Optional(
    Type.Array(closed({ id: Type.String(), name: Type.String(), tags: Type.Array(Type.String()) }), {
      maxItems: 20_000,
      description:
        'Panels as a draft has them, all of them; those there are if left out. A new one has an id of your choice.',
    }),
  ),
  channels: Type.Optional(
    Type.Array(closed({ id: Type.String(), name: Type.String(), enabled: Type.Boolean() }), {
      maxItems: 1_000,
      description: 'Channels as a draft has them, as with panels.',
    }),
  ),
  onCall: Type.Optional(
    Type.Array(closed({ id: Type.String(), ...OnCallCreate.properties }), {
      maxItems: 1_000,
      description:
        'On-call schedules as a draft has them, as with panels. A known calendar is not read again.',
    }),
  ),
});
export type ReplayRequest = Static<typeof ReplayRequest>;

const Result = closed({
  level: Type.String(),
  ttl: Type.Integer(),
  muted: Type.Boolean(),
  throttled: Type.Boolean(),
  suppressed: Type.Boolean({ description: 'A cause stood when it came (`then.suppress`).' }),
  target: HistoryNotification.properties.target,
  rules: Type.Array(Type.String({ description: 'Names of the rules that matched.' })),
});

/** What a change comes to for those who look at panels; the first that holds. */
export const replayChanges = [
  'muted',
  'throttled',
  'suppressed',
  'newly-shown',
  'no-longer-shown',
  'other-panels',
  'other-look',
] as const;
export type ReplayChange = (typeof replayChanges)[number];

export const ReplayResponse = component('ReplayResponse', {
  considered: Type.Integer(),
  changed: Type.Integer(),
  changes: Type.Record(Type.Enum([...replayChanges]), Type.Integer({ minimum: 0 }), {
    description: 'The changed ones, by what the change comes to.',
  }),
  shownBefore: Type.Integer({ description: 'How many were shown on at least one panel when they came.' }),
  shownAfter: Type.Integer(),
  escalated: Type.Integer({
    minimum: 0,
    description:
      'Alarms that the draft would have escalated: nobody acknowledged or cleared them before the first step, and nothing else took their place.',
  }),
  complete: Type.Boolean({
    description: 'false: the cap on considered notifications was reached; the newest were looked at.',
  }),
  rules: Type.Array(
    closed({
      id: Type.String(),
      name: Type.String(),
      matchedBefore: Type.Integer({ minimum: 0 }),
      matchedAfter: Type.Integer({ minimum: 0 }),
      escalated: Type.Integer({ minimum: 0, description: 'Alarms that it would have escalated.' }),
    }),
    { description: 'Rules of the draft that match, or matched: at most 1,000, in their order.' },
  ),
  panels: Type.Array(
    closed({
      id: Type.String(),
      name: Type.String(),
      shownBefore: Type.Integer({ minimum: 0 }),
      shownAfter: Type.Integer({ minimum: 0 }),
    }),
    {
      description:
        'Panels that would show more or fewer: at most 1,000; none where rules choose too many different panels.',
    },
  ),
  channels: Type.Array(
    closed({
      id: Type.String(),
      name: Type.String(),
      sentBefore: Type.Integer({ minimum: 0 }),
      sentAfter: Type.Integer({ minimum: 0 }),
    }),
    { description: 'Channels that would be sent more or fewer.' },
  ),
  examples: Type.Array(
    closed({
      id: Type.String(),
      title: Type.String(),
      host: nullable(Type.String()),
      receivedAt: Instant,
      change: Type.Enum([...replayChanges]),
      before: Result,
      after: Result,
    }),
    { description: 'The newest changed ones, at most 20 of each kind of change, the newest first.' },
  ),
});
export type ReplayResponse = Static<typeof ReplayResponse>;

/** One notification with why it is (or is not) on which panels, and what became of it there. */
export const NotificationDetail = component('NotificationDetail', {
  ...HistoryNotification.properties,
  trace: Type.Union([Type.Array(RuleTrace), Type.Null()], {
    description:
      'null: the rules of that time are no longer stored, because they were changed so often since.',
  }),
  suppressedBy: {
    ...suppressedBy,
    description:
      'By which notification and rule it is suppressed, or was when it came (`then.suppress`). A token gets null.',
  },
  instructions: Type.Array(closed({ rule: NamedRef, text: Type.String() }), {
    description: `What to do, by the rules that matched, as these rules are now: the first ${limits.instructionsShown} that have instructions. A token gets none.`,
  }),
  deliveries: Type.Array(PanelReceipt),
  channels: Type.Array(ChannelDelivery),
  escalation: closed({
    next: nullable(
      closed({
        at: Instant,
        step: Type.Integer({ minimum: 1 }),
        steps: Type.Integer({ minimum: 1 }),
        rule: NamedRef,
        unless: Type.Enum(['acknowledged', 'shown']),
      }),
      {
        description:
          'The step that is sent then, unless somebody acknowledges the notification or, where it says so, a panel shows it; null: none.',
      },
    ),
    from: nullable(Type.String({ format: 'uuid' }), {
      description: 'Of an escalation: the notification that it sends again.',
    }),
    to: nullable(Type.String({ format: 'uuid' }), { description: 'The escalation that took its place.' }),
  }),
});
export type NotificationDetail = Static<typeof NotificationDetail>;
