/** The operator's upper bounds. They hold for new settings of a tenant, for stored ones and for the server's defaults. */
import { badField } from '../errors.ts';
import type { Rate, TenantRecord } from './tenants.ts';

type Limit = number | 'off';

export interface TenantBounds {
  readonly rate: Rate | 'off';
  readonly retentionDays: Limit;
  readonly retentionCount: Limit;
}

export function atMost(wanted: Limit, most: Limit): Limit {
  if (most === 'off') return wanted;
  return wanted === 'off' ? most : Math.min(wanted, most);
}

export function rateAtMost(wanted: Rate | 'off', most: Rate | 'off'): Rate | 'off' {
  if (most === 'off') return wanted;
  if (wanted === 'off') return most;
  if (wanted.perSecond <= most.perSecond && wanted.burst <= most.burst) return wanted;
  return {
    perSecond: Math.min(wanted.perSecond, most.perSecond),
    burst: Math.min(wanted.burst, most.burst),
  };
}

/** @throws AppError `bad-request` naming the field and its bound. */
export function checkBounds(
  { rate, retentionDays, retentionCount }: Partial<Pick<TenantRecord, keyof TenantBounds>>,
  bounds: TenantBounds,
): void {
  const check = (name: string, wanted: Limit | null | undefined, most: Limit, setting: string) => {
    if (wanted != null && atMost(wanted, most) !== wanted)
      throw badField(name, `must be at most ${most}, the bound of this server (${setting})`);
  };
  check('retentionDays', retentionDays, bounds.retentionDays, 'BELFRY_MAX_RETENTION_DAYS');
  check('retentionCount', retentionCount, bounds.retentionCount, 'BELFRY_MAX_RETENTION_COUNT');
  if (rate == null || bounds.rate === 'off' || rateAtMost(rate, bounds.rate) === rate) return;
  const { perSecond, burst } = bounds.rate;
  throw badField(
    'rate',
    `must be at most ${perSecond} a second and ${burst} at once, the bound of this server (BELFRY_MAX_TENANT_RATE)`,
  );
}
