/** What senders that speak a format of their own send and are answered, as documented; each format checks its own payload. */
import { type Static, type TLiteral, Type } from 'typebox';
import { LabelsSchema, mapOptionalTexts } from '../history/fields.ts';
import { limits } from '../limits.ts';
import { closed, component, Instant, nullable } from '../schema.ts';

export const SenderPayload = Type.Object(
  {},
  {
    title: 'SenderPayload',
    additionalProperties: true,
    description: "The sender's own format; see docs/integrations.md.",
  },
);

export const IntegrationAccepted = component('IntegrationAccepted', {
  ok: Type.Boolean({ description: 'Whether every item was stored.' }),
  items: Type.Array(
    closed({
      id: Type.Optional(Type.String({ format: 'uuid', description: 'Of the notification.' })),
      error: Type.Optional(Type.String({ description: 'Why this item was not stored.' })),
    }),
    { description: 'One for each item of the payload, in its order: an id or an error.' },
  ),
  warning: Type.Optional(Type.String({ description: 'That files of the payload were ignored.' })),
});

/** https://docs.ntfy.sh/publish/#publish-as-json; what is not named here is ignored. */
export const NtfyMessage = Type.Object(
  {
    topic: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
    message: Type.Optional(Type.String()),
    title: Type.Optional(Type.String()),
    tags: Type.Optional(Type.Array(Type.String())),
    priority: Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })),
    click: Type.Optional(Type.String()),
    attach: Type.Optional(Type.String()),
    sequence_id: Type.Optional(Type.String()),
  },
  { title: 'NtfyMessage', additionalProperties: true },
);

export const NtfyAccepted = component('NtfyAccepted', {
  id: Type.String(),
  time: Type.Integer({ description: 'In seconds since 1970.' }),
  event: Type.Literal('message'),
  topic: Type.String(),
  title: Type.Optional(Type.String()),
  message: Type.String(),
});

/** What a server of ntfy offers. */
export const NtfyConfig = component('NtfyConfig', {
  base_url: Type.String({ description: 'Empty: not set.' }),
  app_root: Type.String(),
  enable_login: Type.Boolean(),
  require_login: Type.Boolean(),
  enable_signup: Type.Boolean(),
  enable_payments: Type.Boolean(),
  enable_calls: Type.Boolean(),
  enable_emails: Type.Boolean(),
  enable_reservations: Type.Boolean(),
  enable_web_push: Type.Boolean(),
  billing_contact: Type.String(),
  web_push_public_key: Type.String(),
  disallowed_topics: Type.Array(Type.String()),
});

/** That the caller may read a topic. */
export const NtfyAllowed = component('NtfyAllowed', { success: Type.Literal(true) });

/** https://docs.ntfy.sh/config/#health-checks */
export const NtfyHealth = component('NtfyHealth', { healthy: Type.Literal(true) });

export const ntfyCounts = [
  ...(['messages', 'messages_remaining', 'emails', 'emails_remaining', 'calls', 'calls_remaining'] as const),
  ...(['reservations', 'reservations_remaining'] as const),
  ...(['attachment_total_size', 'attachment_total_size_remaining'] as const),
] as const;

export const NtfyAccount = component('NtfyAccount', {
  username: Type.String({ description: "The token's name." }),
  role: Type.Literal('user'),
  stats: Type.Object(
    Object.fromEntries(ntfyCounts.map((name) => [name, Type.Literal(0)])) as Record<
      (typeof ntfyCounts)[number],
      TLiteral<0>
    >,
    { description: 'What clients expect there: Belfry counts none of it.' },
  ),
});

/** https://gotify.net/api-docs#/message/createMessage */
export const GotifyMessage = Type.Object(
  {
    message: Type.String({ minLength: 1 }),
    title: Type.Optional(Type.String()),
    priority: Type.Optional(Type.Integer({ minimum: 0, maximum: 10 })),
    extras: Type.Optional(Type.Object({}, { additionalProperties: true })),
  },
  { title: 'GotifyMessage', additionalProperties: true },
);

export const GotifyAccepted = component('GotifyAccepted', {
  id: Type.Integer(),
  appid: Type.Integer(),
  title: Type.String(),
  message: Type.String(),
  priority: Type.Integer(),
  date: Instant,
  extras: closed({ belfry: closed({ id: Type.String({ format: 'uuid' }) }) }),
});

export const PagerDutyAccepted = component(
  'PagerDutyAccepted',
  { status: Type.Literal('success'), message: Type.String(), dedup_key: Type.String() },
  { description: "Of an event of PagerDuty's Events API." },
);

export const PagerDutyV1Accepted = component(
  'PagerDutyV1Accepted',
  { status: Type.Literal('success'), message: Type.String(), incident_key: Type.String() },
  { description: "Of an event of version 1 of PagerDuty's Events API." },
);

export const OpsgenieAccepted = component('OpsgenieAccepted', {
  result: Type.String(),
  took: Type.Number(),
  requestId: Type.String(),
});

/** How a tenant reads payloads that no integration knows. */

export const MappingName = Type.String({
  pattern: '^[a-z0-9][a-z0-9._-]{0,63}$',
  description: 'In the path of what is sent; in lower case.',
});
const Template = Type.String({
  maxLength: 1_000,
  description:
    'A text in which {/pointer} stands for the value at that JSON Pointer of the item, and {^/pointer} for that of the whole payload.',
});
/** `host` takes addresses, too. */
const { ip: _, labels: __, ...templates } = mapOptionalTexts(() => Type.Optional(Template));
const Level = Type.String({ pattern: limits.levelPattern.source });

export const MappingPut = component('MappingPut', {
  items: Type.Optional(
    Type.String({
      maxLength: 200,
      pattern: '^(?:/.*)?$',
      description:
        'JSON Pointer of a list with one notification for each item; empty if the payload itself is that list. Without it the payload is one notification.',
    }),
  ),
  fields: closed(
    {
      title: Template,
      message: Type.Optional(Template),
      level: Type.Optional(Template),
      ...templates,
      identity: Type.Optional(Template),
    },
    {
      description:
        'key: what has one stays on panels until the next with the same key, unless its level is info or success. identity: what is sent again with the same one is not stored twice.',
    },
  ),
  labels: Type.Optional(
    Type.Record(Type.String({ pattern: limits.labelNamePattern.source }), Template, {
      additionalProperties: false,
      maxProperties: limits.labels,
      description: 'The value of each label, by its name. A label whose value is empty is left out.',
    }),
  ),
  levels: Type.Optional(
    Type.Record(Type.String({ minLength: 1, maxLength: 100 }), Level, {
      maxProperties: 100,
      description: 'The level of each word that the field level may have; `*` is for every other word.',
    }),
  ),
});
export type MappingPut = Static<typeof MappingPut>;

export const Mapping = component('Mapping', {
  name: MappingName,
  ...MappingPut.properties,
  updatedAt: Instant,
  updatedBy: Type.String(),
});
export type Mapping = Static<typeof Mapping>;

export const MappingList = component('MappingList', { mappings: Type.Array(Mapping) });

/** The last payload that was sent to a mapping. */
export const Capture = component('Capture', {
  receivedAt: Instant,
  payload: Type.String({ description: 'The body as it came.' }),
  problem: nullable(Type.String(), { description: 'Why it could not be read.' }),
});
export type Capture = Static<typeof Capture>;

export const MappingPreview = component('MappingPreview', {
  mapping: MappingPut,
  payload: Type.String({ maxLength: limits.captureBytes, description: 'JSON.' }),
});

export const MappingPreviewed = component('MappingPreviewed', {
  items: Type.Array(
    closed({
      title: Type.String(),
      message: Type.String(),
      level: Type.String(),
      ...mapOptionalTexts(() => nullable(Type.String())),
      labels: LabelsSchema,
    }),
    { description: 'At most the first 20.' },
  ),
  count: Type.Integer(),
});
export type MappingPreviewed = Static<typeof MappingPreviewed>;
