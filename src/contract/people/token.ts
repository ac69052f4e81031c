import { type Static, Type } from 'typebox';
import { component, Instant, Name, NullableInstant, nullable, patch, RateLimit } from '../schema.ts';

export const scopes = ['notify', 'panel', 'metrics'] as const;
export type Scope = (typeof scopes)[number];

export const roles = ['viewer', 'member', 'admin', 'owner'] as const;
/** What a person or an automation key may do in a tenant; each includes the ones before it. */
export type Role = (typeof roles)[number];

const AllowList = Type.Array(
  Type.String({
    minLength: 2,
    maxLength: 50,
    description: 'An address or CIDR block the caller must come from.',
  }),
  { maxItems: 100 },
);

const recorded = {
  id: Type.String({ description: 'The public part of the secret, ten letters and digits.' }),
  name: Type.String(),
  createdAt: Instant,
  createdBy: Type.String(),
  lastUsedAt: NullableInstant,
  lastUsedFrom: nullable(Type.String()),
  expiresAt: NullableInstant,
  allowFrom: AllowList,
  revokedAt: NullableInstant,
};

const AllowInUrl = Type.Boolean({
  description:
    'It may be the parameter `token` of a URL, and send by GET. Only with the scope notify alone: proxies and devices log URLs.',
});

export const Token = component('Token', {
  ...recorded,
  allowInUrl: AllowInUrl,
  scopes: Type.Array(Type.Enum([...scopes])),
  rate: RateLimit,
  panelId: nullable(
    Type.String({ description: 'It reads this panel alone, as the token of a paired screen does.' }),
  ),
});
export type Token = Static<typeof Token>;

export const Key = component('Key', { ...recorded, role: Type.Enum([...roles]) });
export type Key = Static<typeof Key>;

const creatable = {
  name: Name,
  expiresAt: Type.Optional(NullableInstant),
  allowFrom: Type.Optional(AllowList),
};

const ofTokens = {
  ...creatable,
  scopes: Type.Optional(
    Type.Array(Type.Enum([...scopes]), { uniqueItems: true, description: 'None chosen: all three.' }),
  ),
  rate: Type.Optional(RateLimit),
  allowInUrl: Type.Optional(AllowInUrl),
};

export const TokenCreate = component('TokenCreate', {
  ...ofTokens,
  panelId: Type.Optional(
    Type.String({ description: 'It reads this panel alone. Only with the scope panel alone.' }),
  ),
});
export type TokenCreate = Static<typeof TokenCreate>;

export const TokenPatch = patch('TokenPatch', ofTokens);
export type TokenPatch = Static<typeof TokenPatch>;

export const KeyCreate = component('KeyCreate', { ...creatable, role: Type.Enum([...roles]) });
export type KeyCreate = Static<typeof KeyCreate>;

/** The answer to creating: the secret is in `token` (or `key`) and is never shown again. */
export const TokenCreated = component('TokenCreated', { ...Token.properties, token: Type.String() });
export const KeyCreated = component('KeyCreated', { ...Key.properties, key: Type.String() });
export const SigningSecret = component('SigningSecret', {
  signingSecret: Type.String({ description: '`whsec_` and 32 bytes in base64.' }),
});
export const TokenList = component('TokenList', { tokens: Type.Array(Token) });
export const KeyList = component('KeyList', { keys: Type.Array(Key) });
