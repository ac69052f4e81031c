/** The operator's upper bounds of the settings of tenants. */
import type { TenantBounds } from '../core/tenants/tenant-bounds.ts';
import { orOff, rate, wholeNumber } from './values.ts';
import { type SettingsOf, setting } from './variable.ts';

export const tenantVariables = {
  BELFRY_MAX_TENANTS: setting(
    'off',
    orOff(wholeNumber(0, 1_000_000)),
    'tenants up to which owners may create further ones; the command line always may',
  ),
  BELFRY_MAX_TENANT_RATE: setting(
    'off',
    orOff(rate),
    'the most that a tenant may set as its rate; also bounds BELFRY_RATE_TENANT',
  ),
  BELFRY_MAX_RETENTION_DAYS: setting(
    'off',
    orOff(wholeNumber(1, 36_500)),
    'the most days that a tenant may keep history; also bounds BELFRY_RETENTION_DAYS',
  ),
  BELFRY_MAX_RETENTION_COUNT: setting(
    'off',
    orOff(wholeNumber(1, 1e12)),
    'the most notifications that a tenant may keep; also bounds BELFRY_RETENTION_COUNT',
  ),
};

export const boundsOf = (
  of: SettingsOf<typeof tenantVariables>,
): TenantBounds & { tenants: number | 'off' } =>
  Object.freeze({
    tenants: of.BELFRY_MAX_TENANTS,
    rate: of.BELFRY_MAX_TENANT_RATE,
    retentionDays: of.BELFRY_MAX_RETENTION_DAYS,
    retentionCount: of.BELFRY_MAX_RETENTION_COUNT,
  });
