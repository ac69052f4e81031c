/** Ways out: where a rule's notifications go beside panels. */
import { type Static, Type } from 'typebox';
import { closed, component, Instant, Name, NullableInstant, nullable } from '../schema.ts';
import { alarmEvents, channelKinds } from './channel-fields.ts';

const text = Type.String({ maxLength: 2048 });
const fieldName = { pattern: '^[a-zA-Z]{1,32}$' };

const editable = {
  name: Name,
  enabled: Type.Boolean({ description: 'false: nothing new is queued, and nothing is sent.' }),
  settings: Type.Record(Type.String(fieldName), text, {
    maxProperties: 20,
    description: 'By the kind; docs/channels.md has the fields of each.',
  }),
};

/** Runtime state; not part of the configuration. */
const ChannelState = closed({
  pending: Type.Integer({ minimum: 0, description: 'Notifications that wait to be delivered.' }),
  failures: Type.Integer({ minimum: 0, description: 'Failed attempts since the last delivery.' }),
  failingSince: NullableInstant,
  retryAt: nullable(Instant, { description: 'Nothing is attempted before this time.' }),
  lastDeliveredAt: NullableInstant,
  lastError: nullable(Type.String(), {
    description: 'What the receiver answered to the last failed attempt, without secrets; only for admins.',
  }),
  answersFailingSince: nullable(Instant, {
    description:
      'Since when Belfry cannot get what people do in the other system (MQTT commands, presses in Telegram, silences of Alertmanager); null: it can, or the channel is not set to.',
  }),
  answersError: nullable(Type.String(), { description: 'Why, without secrets; only for admins.' }),
});

export const Channel = component('Channel', {
  id: Type.String(),
  ...editable,
  kind: Type.Enum([...channelKinds]),
  secrets: Type.Array(Type.String(), { description: 'The names of the secrets that are set.' }),
  createdAt: Instant,
  updatedAt: Instant,
  state: ChannelState,
});
export type Channel = Static<typeof Channel>;

export const ChannelList = component('ChannelList', { channels: Type.Array(Channel) });

export const ChannelCreate = component('ChannelCreate', {
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
});
export type ChannelCreate = Static<typeof ChannelCreate>;

/** The answer to a creation or a change: the one time at which a signing key that the server made can be read. */
export const ChannelCreated = component('ChannelCreated', {
  ...Channel.properties,
  signingKey: Type.Optional(Type.String()),
});
export type ChannelCreated = Static<typeof ChannelCreated>;

export const ChannelPatch = component('ChannelPatch', {
  name: Type.Optional(editable.name),
  enabled: Type.Optional(editable.enabled),
  settings: Type.Optional(editable.settings),
  secrets: Type.Optional(
    Type.Record(Type.String(fieldName), nullable(text), {
      maxProperties: 20,
      description: 'Those that are named are set, or removed by null; the others keep their value.',
    }),
  ),
});
export type ChannelPatch = Static<typeof ChannelPatch>;

export const ChannelSecretsQuestion = component('ChannelSecretsQuestion', {
  secrets: Type.Record(Type.String(fieldName), text, { maxProperties: 20 }),
});
export const ChannelSecretsAnswer = component('ChannelSecretsAnswer', {
  differing: Type.Array(Type.String(), {
    description: 'The names of those that the channel does not have, or has another value of.',
  }),
});
export type ChannelSecretsAnswer = Static<typeof ChannelSecretsAnswer>;

/** Result of a test. */
export const ChannelTest = component('ChannelTest', {
  ok: Type.Boolean(),
  answer: Type.String({ description: 'What the receiver answered, or why no request was made.' }),
  tookMs: Type.Integer({ minimum: 0 }),
});
export type ChannelTest = Static<typeof ChannelTest>;

/** A notification, or what happened to its alarm, on its way to one channel. */
export const ChannelDelivery = component('ChannelDelivery', {
  channel: closed(
    { id: Type.String(), name: Type.String() },
    { description: 'A deleted channel has an empty name.' },
  ),
  notification: Type.String({ format: 'uuid' }),
  title: nullable(Type.String(), { description: 'null: history no longer has it.' }),
  event: nullable(Type.Enum([...alarmEvents]), {
    description: 'What happened to the alarm of the notification; null: it is of the notification itself.',
  }),
  state: Type.Enum(['pending', 'delivered', 'failed']),
  attempts: Type.Integer({ minimum: 0 }),
  queuedAt: Instant,
  finishedAt: NullableInstant,
  answer: nullable(Type.String(), {
    description: 'The result of the last attempt, in one sentence without secrets; only for admins.',
  }),
});
export type ChannelDelivery = Static<typeof ChannelDelivery>;

export const ChannelDeliveries = component('ChannelDeliveries', { deliveries: Type.Array(ChannelDelivery) });
export type ChannelDeliveries = Static<typeof ChannelDeliveries>;
