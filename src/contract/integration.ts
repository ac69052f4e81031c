/** What senders that speak a format of their own send and are answered, as documented; each format checks its own payload. */
import { Type } from 'typebox';

export const SenderPayload = Type.Object(
  {},
  {
    title: 'SenderPayload',
    additionalProperties: true,
    description: "The sender's own format; see docs/integrations.md.",
  },
);

export const IntegrationAccepted = Type.Object(
  {
    ok: Type.Boolean({ description: 'Whether every item was stored.' }),
    items: Type.Array(
      Type.Object(
        {
          id: Type.Optional(Type.String({ format: 'uuid', description: 'Of the notification.' })),
          error: Type.Optional(Type.String({ description: 'Why this item was not stored.' })),
        },
        { additionalProperties: false },
      ),
      { description: 'One for each item of the payload, in its order: an id or an error.' },
    ),
  },
  { title: 'IntegrationAccepted', additionalProperties: false },
);

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

export const NtfyAccepted = Type.Object(
  {
    id: Type.String(),
    time: Type.Integer({ description: 'In seconds since 1970.' }),
    event: Type.Literal('message'),
    topic: Type.String(),
    title: Type.Optional(Type.String()),
    message: Type.String(),
  },
  { title: 'NtfyAccepted', additionalProperties: false },
);

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

export const GotifyAccepted = Type.Object(
  {
    id: Type.Integer(),
    appid: Type.Integer(),
    title: Type.String(),
    message: Type.String(),
    priority: Type.Integer(),
    date: Type.String({ format: 'date-time' }),
    extras: Type.Object(
      { belfry: Type.Object({ id: Type.String({ format: 'uuid' }) }, { additionalProperties: false }) },
      { additionalProperties: false },
    ),
  },
  { title: 'GotifyAccepted', additionalProperties: false },
);

export const PagerDutyAccepted = Type.Object(
  { status: Type.Literal('success'), message: Type.String(), dedup_key: Type.String() },
  {
    title: 'PagerDutyAccepted',
    additionalProperties: false,
    description: "Of an event of PagerDuty's Events API.",
  },
);

export const OpsgenieAccepted = Type.Object(
  { result: Type.String(), took: Type.Number(), requestId: Type.String() },
  { title: 'OpsgenieAccepted', additionalProperties: false },
);
