/** What senders that speak a format of their own send and are answered, as documented; each format checks its own payload. */
import { Type } from 'typebox';
import { closed, component, Instant } from '../schema.ts';

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

/** https://docs.ntfy.sh/config/#health-checks */
export const NtfyHealth = component('NtfyHealth', { healthy: Type.Literal(true) });

export const NtfyAccount = component('NtfyAccount', {
  username: Type.String({ description: "The token's name." }),
  role: Type.Literal('user'),
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
