import { type Static, Type } from 'typebox';
import { channelKinds } from './channel-fields.ts';

/** Ways out: where a rule's notifications go beside panels. */

const instant = Type.Union([Type.String({ format: 'date-time' }), Type.Null()]);
const text = Type.String({ maxLength: 2048 });
const fieldName = { pattern: '^[a-zA-Z]{1,32}$' };

const editable = {
  name: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }),
  enabled: Type.Boolean({ description: 'false: nothing new is queued, and nothing is sent.' }),
  settings: Type.Record(Type.String(fieldName), text, {
    maxProperties: 20,
    description: 'By the kind; docs/channels.md has the fields of each.',
  }),
};

/** Runtime state; not part of the configuration. */
export const ChannelState = Type.Object(
  {
    pending: Type.Integer({ minimum: 0, description: 'Notifications that wait to be delivered.' }),
    failures: Type.Integer({ minimum: 0, description: 'Failed attempts since the last delivery.' }),
    failingSince: instant,
    retryAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'Nothing is attempted before this time.',
    }),
    lastDeliveredAt: instant,
    lastError: Type.Union([Type.String(), Type.Null()]),
  },
  { additionalProperties: false },
);
export type ChannelState = Static<typeof ChannelState>;

export const Channel = Type.Object(
  {
    id: Type.String(),
    ...editable,
    kind: Type.Enum([...channelKinds]),
    secrets: Type.Array(Type.String(), { description: 'The names of the secrets that are set.' }),
    createdAt: Type.String({ format: 'date-time' }),
    updatedAt: Type.String({ format: 'date-time' }),
    state: ChannelState,
  },
  { title: 'Channel', additionalProperties: false },
);
export type Channel = Static<typeof Channel>;

export const ChannelList = Type.Object(
  { channels: Type.Array(Channel) },
  { title: 'ChannelList', additionalProperties: false },
);
export type ChannelList = Static<typeof ChannelList>;

export const ChannelCreate = Type.Object(
  {
    name: editable.name,
    kind: Type.Enum([...channelKinds]),
    enabled: Type.Optional(editable.enabled),
    settings: Type.Optional(editable.settings),
    secrets: Type.Optional(
      Type.Record(Type.String(fieldName), text, {
        maxProperties: 20,
        description: 'Stored encrypted, and never answered.',
      }),
    ),
  },
  { title: 'ChannelCreate', additionalProperties: false },
);
export type ChannelCreate = Static<typeof ChannelCreate>;

/** The answer to a creation or a change: the one time at which a signing key that the server made can be read. */
export const ChannelCreated = Type.Object(
  { ...Channel.properties, signingKey: Type.Optional(Type.String()) },
  { title: 'ChannelCreated', additionalProperties: false },
);
export type ChannelCreated = Static<typeof ChannelCreated>;

export const ChannelPatch = Type.Object(
  {
    name: Type.Optional(editable.name),
    enabled: Type.Optional(editable.enabled),
    settings: Type.Optional(editable.settings),
    secrets: Type.Optional(
      Type.Record(Type.String(fieldName), Type.Union([text, Type.Null()]), {
        maxProperties: 20,
        description: 'Those that are named are set, or removed by null; the others keep their value.',
      }),
    ),
  },
  { title: 'ChannelPatch', additionalProperties: false },
);
export type ChannelPatch = Static<typeof ChannelPatch>;

export const ChannelSecretsQuestion = Type.Object(
  { secrets: Type.Record(Type.String(fieldName), text, { maxProperties: 20 }) },
  { title: 'ChannelSecretsQuestion', additionalProperties: false },
);
export const ChannelSecretsAnswer = Type.Object(
  {
    differing: Type.Array(Type.String(), {
      description: 'The names of those that the channel does not have, or has another value of.',
    }),
  },
  { title: 'ChannelSecretsAnswer', additionalProperties: false },
);
export type ChannelSecretsAnswer = Static<typeof ChannelSecretsAnswer>;

/** Result of a test. */
export const ChannelTest = Type.Object(
  {
    ok: Type.Boolean(),
    answer: Type.String({ description: 'What the receiver answered, or why no request was made.' }),
    tookMs: Type.Integer({ minimum: 0 }),
  },
  { title: 'ChannelTest', additionalProperties: false },
);
export type ChannelTest = Static<typeof ChannelTest>;

/** One notification on its way to one channel. */
export const ChannelDelivery = Type.Object(
  {
    channel: Type.Object(
      { id: Type.String(), name: Type.String() },
      { additionalProperties: false, description: 'A deleted channel has an empty name.' },
    ),
    notification: Type.String({ format: 'uuid' }),
    title: Type.Union([Type.String(), Type.Null()], { description: 'null: history no longer has it.' }),
    state: Type.Enum(['pending', 'delivered', 'failed']),
    attempts: Type.Integer({ minimum: 0 }),
    queuedAt: Type.String({ format: 'date-time' }),
    finishedAt: instant,
    answer: Type.Union([Type.String(), Type.Null()], {
      description: 'The result of the last attempt, in one sentence.',
    }),
  },
  { title: 'ChannelDelivery', additionalProperties: false },
);
export type ChannelDelivery = Static<typeof ChannelDelivery>;

export const ChannelDeliveries = Type.Object(
  { deliveries: Type.Array(ChannelDelivery) },
  { title: 'ChannelDeliveries', additionalProperties: false },
);
export type ChannelDeliveries = Static<typeof ChannelDeliveries>;
