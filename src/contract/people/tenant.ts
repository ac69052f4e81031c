import { type Static, Type } from 'typebox';
import { component, Instant, Name, patch, RateLimit } from '../schema.ts';

const limit = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Literal('off'), Type.Null()]);

const settings = {
  title: Type.String({ minLength: 1, maxLength: 100 }),
  timeZone: Type.String({ minLength: 1, maxLength: 64, description: 'IANA name, as in Europe/Berlin.' }),
  rate: RateLimit,
  retentionDays: limit(Type.Integer({ minimum: 1, maximum: 36_500 })),
  retentionCount: limit(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
};

export const TenantName = Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,62}$' });

const offOr = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Literal('off')]);

const bounds = Type.Object(
  {
    rate: offOr(Type.Object({ perSecond: Type.Number(), burst: Type.Integer() })),
    retentionDays: offOr(Type.Integer()),
    retentionCount: offOr(Type.Integer()),
  },
  { description: 'The most that the settings may be, as the operator of the server set it.' },
);

export const Tenant = component('Tenant', { name: TenantName, ...settings, bounds, createdAt: Instant });
export type Tenant = Static<typeof Tenant>;

export const TenantCreate = component('TenantCreate', {
  name: TenantName,
  title: Name,
  timeZone: Type.Optional(settings.timeZone),
});

export const TenantPatch = patch('TenantPatch', settings);
export type TenantPatch = Static<typeof TenantPatch>;
