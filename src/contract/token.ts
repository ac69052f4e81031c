import { type Static, Type } from 'typebox';

export const scopes = ['notify', 'panel', 'metrics'] as const;
export type Scope = (typeof scopes)[number];

export const roles = ['viewer', 'member', 'admin', 'owner'] as const;
/** What a person or an automation key may do in a tenant; each includes the ones before it. */
export type Role = (typeof roles)[number];

const Name = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' });
const instant = Type.Union([Type.String({ format: 'date-time' }), Type.Null()]);
const rate = Type.Union([
  Type.Object(
    {
      perSecond: Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000 }),
      burst: Type.Integer({ minimum: 1, maximum: 10_000_000 }),
    },
    { additionalProperties: false },
  ),
  Type.Literal('off'),
  Type.Null(),
]);
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
  createdAt: Type.String({ format: 'date-time' }),
  createdBy: Type.String(),
  lastUsedAt: instant,
  lastUsedFrom: Type.Union([Type.String(), Type.Null()]),
  expiresAt: instant,
  allowFrom: AllowList,
  revokedAt: instant,
};

export const Token = Type.Object(
  {
    ...recorded,
    scopes: Type.Array(Type.Enum([...scopes])),
    rate,
    panelId: Type.Union([Type.String({ description: 'Bound to this panel by pairing.' }), Type.Null()]),
  },
  { title: 'Token', additionalProperties: false },
);
export type Token = Static<typeof Token>;

export const Key = Type.Object(
  { ...recorded, role: Type.Enum([...roles]) },
  { title: 'Key', additionalProperties: false },
);
export type Key = Static<typeof Key>;

const creatable = {
  name: Name,
  expiresAt: Type.Optional(instant),
  allowFrom: Type.Optional(AllowList),
};

export const TokenCreate = Type.Object(
  {
    ...creatable,
    scopes: Type.Optional(
      Type.Array(Type.Enum([...scopes]), { uniqueItems: true, description: 'None chosen: all three.' }),
    ),
    rate: Type.Optional(rate),
  },
  { title: 'TokenCreate', additionalProperties: false },
);
export type TokenCreate = Static<typeof TokenCreate>;

export const TokenPatch = Type.Partial(TokenCreate, { title: 'TokenPatch', additionalProperties: false });
export type TokenPatch = Static<typeof TokenPatch>;

export const KeyCreate = Type.Object(
  { ...creatable, role: Type.Enum([...roles]) },
  { title: 'KeyCreate', additionalProperties: false },
);
export type KeyCreate = Static<typeof KeyCreate>;

/** The answer to creating: the secret is in `token` (or `key`) and is never shown again. */
export const TokenCreated = Type.Object(
  { ...Token.properties, token: Type.String() },
  { title: 'TokenCreated', additionalProperties: false },
);
export const KeyCreated = Type.Object(
  { ...Key.properties, key: Type.String() },
  { title: 'KeyCreated', additionalProperties: false },
);
export const SigningSecret = Type.Object(
  { signingSecret: Type.String({ description: '`whsec_` and 32 bytes in base64.' }) },
  { title: 'SigningSecret', additionalProperties: false },
);
export const TokenList = Type.Object(
  { tokens: Type.Array(Token) },
  { title: 'TokenList', additionalProperties: false },
);
export const KeyList = Type.Object(
  { keys: Type.Array(Key) },
  { title: 'KeyList', additionalProperties: false },
);
