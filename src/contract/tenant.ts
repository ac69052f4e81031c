import { type Static, Type } from 'typebox';

const limit = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Literal('off'), Type.Null()]);
const rate = Type.Object(
  {
    perSecond: Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000 }),
    burst: Type.Integer({ minimum: 1, maximum: 10_000_000 }),
  },
  { additionalProperties: false },
);

const settings = {
  title: Type.String({ minLength: 1, maxLength: 100 }),
  timeZone: Type.String({ minLength: 1, maxLength: 64, description: 'IANA name, as in Europe/Berlin.' }),
  rate: Type.Union([rate, Type.Literal('off'), Type.Null()], {
    description: "null: the server's own limit.",
  }),
  retentionDays: limit(Type.Integer({ minimum: 1, maximum: 36_500 })),
  retentionCount: limit(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
};

export const TenantName = Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,62}$' });

export const Tenant = Type.Object(
  { name: TenantName, ...settings, createdAt: Type.String({ format: 'date-time' }) },
  { title: 'Tenant', additionalProperties: false },
);
export type Tenant = Static<typeof Tenant>;

export const TenantCreate = Type.Object(
  {
    name: TenantName,
    title: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }),
    timeZone: Type.Optional(settings.timeZone),
  },
  { title: 'TenantCreate', additionalProperties: false },
);

export const TenantPatch = Type.Partial(Type.Object(settings), {
  title: 'TenantPatch',
  additionalProperties: false,
});
export type TenantPatch = Static<typeof TenantPatch>;
