/** What clients of Gotify read, as its own server answers: https://gotify.net/api-docs */
import { Type } from 'typebox';
import { closed, component, Instant, Name, NullableInstant } from '../schema.ts';

export const GotifyVersion = component('GotifyVersion', {
  version: Type.String({ description: 'The version of Gotify as which this server answers.' }),
  commit: Type.String(),
  buildDate: Type.String(),
});

export const GotifyInfo = component('GotifyInfo', {
  version: Type.String(),
  register: Type.Literal(false),
  oidc: Type.Literal(false),
});

export const GotifyHealth = component('GotifyHealth', {
  health: Type.Literal('green'),
  database: Type.Literal('green'),
});

export const GotifyUser = component('GotifyUser', {
  id: Type.Integer(),
  name: Type.String({ description: 'Of the token, or of the person.' }),
  admin: Type.Literal(false),
});

export const GotifyClientName = Type.Object(
  { name: Name },
  { title: 'GotifyClientName', additionalProperties: true },
);

export const GotifyClient = component('GotifyClient', {
  id: Type.Integer({ description: 'Always 1: a caller has one client, its own.' }),
  name: Type.String({ description: 'Of the panel.' }),
  token: Type.String({
    description: 'Of the caller, or the new one of a phone that signs in with an account.',
  }),
  createdAt: Instant,
  lastUsed: NullableInstant,
});

export const GotifyApplication = component('GotifyApplication', {
  id: Type.Integer(),
  name: Type.String({ description: 'Of the level.' }),
  description: Type.String(),
  internal: Type.Boolean(),
  image: Type.String({ description: 'Relative to the base address.' }),
  defaultPriority: Type.Integer(),
  lastUsed: NullableInstant,
  createdAt: Instant,
  sortKey: Type.String(),
});

const GotifyStored = component('GotifyStored', {
  id: Type.Integer(),
  appid: Type.Integer({ description: 'The application of its level.' }),
  title: Type.String(),
  message: Type.String(),
  priority: Type.Integer({ minimum: 1, maximum: 10 }),
  date: Instant,
  extras: Type.Object({}, { additionalProperties: true }),
});

export const GotifyMessages = component('GotifyMessages', {
  paging: closed({
    size: Type.Integer(),
    limit: Type.Integer(),
    since: Type.Integer({ description: 'For the next page; 0 on the last one.' }),
    next: Type.Optional(Type.String({ description: 'The address of the next page.' })),
  }),
  messages: Type.Array(GotifyStored),
});
