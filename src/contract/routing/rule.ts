import { type Static, Type } from 'typebox';
import { fieldOrLabel, mapPatternFields, patternFieldNames } from '../history/fields.ts';
import { GroupBy, PanelsTarget } from '../history/notification.ts';
import { limits } from '../limits.ts';
import { closed, component, Instant, Name, NullableInstant, patch } from '../schema.ts';
import { weekdays } from '../time.ts';
import { acknowledgeForMs, LevelName } from './level.ts';

const list = <T extends Parameters<typeof Type.Array>[0]>(item: T) =>
  Type.Array(item, { minItems: 1, maxItems: 1000 });
const AddressPattern = Type.String({
  minLength: 2,
  maxLength: 100,
  errorMessage:
    'must be an address, a CIDR block or a range, as in 10.0.0.5, 10.0.0.0/8 or 10.0.0.1-10.0.0.9',
  description: 'An address, a CIDR block or a range: 10.0.0.5, 10.0.0.0/8, 10.0.0.1-10.0.0.9, v4 or v6.',
});
const globDescription = '"*" any run, "?" one character; case does not count.';
const Glob = Type.String({ minLength: 1, maxLength: 255, description: globDescription });

const LabelConditions = Type.Record(
  Type.String({ pattern: limits.labelNamePattern.source }),
  list(Type.String({ maxLength: 255, description: globDescription })),
  {
    ...{ additionalProperties: false, minProperties: 1, maxProperties: limits.labels },
    description:
      'By name. Every label named must be there with one of its values, as in {"env": ["prod", "stag*"]}.',
  },
);

/** A text condition: exactly one of the three; each takes one pattern or a list that means any of. */
const one = <T extends Parameters<typeof Type.Array>[0]>(item: T) =>
  Type.Union([item, list(item)], {
    errorMessage: 'must be a text of 1 to 1000 characters, or a list of 1 to 1000 of them',
  });
const Pattern = Type.String({ minLength: 1, maxLength: 1000 });
export const TextCondition = Type.Union(
  [closed({ contains: one(Pattern) }), closed({ glob: one(Pattern) }), closed({ regex: one(Pattern) })],
  {
    title: 'TextCondition',
    errorMessage: 'must have exactly one of contains, glob and regex, as in {"contains": "disk"}',
  },
);
export type TextCondition = Static<typeof TextCondition>;

const conditions = {
  level: Type.Optional(list(LevelName)),
  minLevel: Type.Optional(LevelName),
  ip: Type.Optional(list(AddressPattern)),
  sourceIp: Type.Optional(list(AddressPattern)),
  ...mapPatternFields(() => Type.Optional(list(Glob))),
  labels: Type.Optional(LabelConditions),
  title: Type.Optional(TextCondition),
  message: Type.Optional(TextCondition),
  token: Type.Optional(
    list(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description:
          'The id or name of a token that exists, or of a part of Belfry, as in belfry:escalation.',
      }),
    ),
  ),
};

/** Conditions; all that are given must hold, a list means any of. Each under `not` must fail to hold. */
export const RuleWhen = component('RuleWhen', { ...conditions, not: Type.Optional(closed(conditions)) });
export type RuleWhen = Static<typeof RuleWhen>;
export type RuleConditions = Omit<RuleWhen, 'not'>;

export const throttleFields = [
  'title',
  'message',
  'level',
  'ip',
  'sourceIp',
  ...patternFieldNames,
  'token',
] as const;

export const ThrottleField = fieldOrLabel(throttleFields);

export const maxEscalationSteps = 5;

/** Which alarms are off the panels while an alarm of the rule stands. */
export const Suppress = closed(
  {
    when: RuleWhen,
    equal: Type.Array(ThrottleField, {
      maxItems: throttleFields.length,
      uniqueItems: true,
      description: 'Fields and labels that both must have, with the same value: ["label:site"].',
    }),
  },
  {
    description:
      'While an alarm that the rule matched stands, others that match `when` and agree with it in `equal` are stored, but on no panel and in no channel; they come to the panels when it ends.',
  },
);
export type Suppress = Static<typeof Suppress>;

/** What happens when nobody acknowledges a notification in time. */
export const EscalationStep = component('EscalationStep', {
  afterMs: Type.Integer({
    minimum: 1_000,
    maximum: 604_800_000,
    description: 'After the notification, or after the step before.',
  }),
  unless: Type.Optional(
    Type.Enum(['acknowledged', 'shown'], {
      description: 'What ends the escalation: somebody acknowledged it (default), or a panel showed it.',
    }),
  ),
  setLevel: Type.Optional(LevelName),
  panels: Type.Optional(PanelsTarget),
});
export type EscalationStep = Static<typeof EscalationStep>;

export const RuleThen = component('RuleThen', {
  panels: Type.Optional(PanelsTarget),
  channels: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      minItems: 1,
      maxItems: 50,
      uniqueItems: true,
      description: 'Channels that deliver it, by id or name; kept by id.',
    }),
  ),
  onCall: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description:
        'An on-call schedule, by id or name; kept by id. Adds the channels and panels of the people on call when the notification comes.',
    }),
  ),
  setLevel: Type.Optional(LevelName),
  setTtl: Type.Optional(Type.Integer({ minimum: 0, maximum: 604_800_000 })),
  mute: Type.Optional(Type.Boolean({ description: 'Record it, show it nowhere.' })),
  escalate: Type.Optional(
    Type.Array(EscalationStep, {
      minItems: 1,
      maxItems: maxEscalationSteps,
      description:
        'What Belfry sends while nobody has acknowledged a notification that is still on its panels.',
    }),
  ),
  instructions: Type.Optional(
    Type.String({
      maxLength: limits.instructionsChars,
      pattern: '\\S',
      errorMessage: `must be a text of 1 to ${limits.instructionsChars} characters, not white space alone`,
      description: 'What to do, as plain text. Shown with each notification that the rule matched.',
    }),
  ),
  throttle: Type.Optional(
    closed(
      {
        by: Type.Array(ThrottleField, {
          maxItems: throttleFields.length,
          uniqueItems: true,
        }),
        perMs: Type.Integer({ minimum: 1000, maximum: 86_400_000 }),
      },
      { description: 'Show the first of the same fields in this time, count the rest on it.' },
    ),
  ),
  suppress: Type.Optional(Suppress),
  group: Type.Optional({
    ...GroupBy,
    description:
      'By what panels put notifications on one card when they do not all fit, instead of by similar titles.',
  }),
  acknowledgeForMs: acknowledgeForMs(
    'An acknowledgement that names no time of its own ends by itself after these milliseconds, whatever the level says. 0: it does not end.',
  ),
});
export type RuleThen = Static<typeof RuleThen>;

export { weekdays };

/** A weekly window; `until` at or before `from` runs past midnight. */
export const RuleWindow = closed({
  days: Type.Array(Type.Enum([...weekdays]), { minItems: 1, maxItems: 7, uniqueItems: true }),
  from: Type.String({
    pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
    errorMessage: 'must be a time of day from 00:00 to 23:59',
    description: 'HH:MM',
  }),
  until: Type.String({
    pattern: '^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$',
    errorMessage: 'must be a time of day from 00:00 to 24:00',
    description: 'HH:MM, at most 24:00',
  }),
});
export type RuleWindow = Static<typeof RuleWindow>;

const editable = {
  name: Name,
  enabled: Type.Boolean(),
  when: RuleWhen,
  then: RuleThen,
  continue: Type.Boolean({ description: 'true: the walk goes on after this rule matched.' }),
  activeFrom: NullableInstant,
  activeUntil: NullableInstant,
  windows: Type.Array(RuleWindow, { maxItems: 50, description: 'Empty: always.' }),
  timeZone: Type.String({ minLength: 1, maxLength: 64, description: 'IANA name, as in Europe/Berlin.' }),
  note: Type.String({ maxLength: 2000 }),
};

export const Rule = component('Rule', {
  id: Type.String(),
  ...editable,
  hits: Type.Integer({ minimum: 0 }),
  lastHitAt: NullableInstant,
  createdAt: Instant,
  updatedAt: Instant,
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Levels and tokens in its conditions that no longer exist, so that they match nothing: the first three, then how many more. Left out when there are none.',
    }),
  ),
});
export type Rule = Static<typeof Rule>;

/** A rule without its statistics and warnings. */
export type RuleSpec = Omit<Rule, 'hits' | 'lastHitAt' | 'createdAt' | 'updatedAt' | 'warnings'>;

const { name, then, ...defaulted } = editable;

/** POST takes name, when and then; the rest has defaults. */
export const RuleCreate = component('RuleCreate', {
  name,
  then,
  ...patch('', defaulted).properties,
});
export type RuleCreate = Static<typeof RuleCreate>;

/** A rule to be made, and where it is to stand. */
export const NewRule = component('NewRule', {
  ...RuleCreate.properties,
  position: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'Where the rule stands in the list: 1 before all others. Left out, or beyond the end: last.',
    }),
  ),
});
export type NewRule = Static<typeof NewRule>;

export const RulePatch = Type.Partial(RuleCreate, { title: 'RulePatch', additionalProperties: false });
export type RulePatch = Static<typeof RulePatch>;

export const RuleList = component('RuleList', { rules: Type.Array(Rule) });
export const RuleOrder = component('RuleOrder', {
  ids: Type.Array(Type.String(), {
    maxItems: 20_000,
    description: 'Every rule id, each once, in the new order.',
  }),
});
