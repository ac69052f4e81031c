/** Limits as settings have them: the server's default, the tenant's own, or none. */
import { limits } from '#contract/limits.ts';

export const limitKinds = ['server', 'own', 'off'] as const;
export type LimitKind = (typeof limitKinds)[number];

type Limit = number | 'off' | null;
type Rate = { readonly perSecond: number; readonly burst: number } | 'off' | null;

const kindOf = (limit: Limit | Rate): LimitKind =>
  limit === null ? 'server' : limit === 'off' ? 'off' : 'own';

/** The fields of a limit. */
export interface LimitValues {
  readonly kind: LimitKind;
  readonly value: number | string;
}

export const limitValuesOf = (limit: Limit): LimitValues => ({
  kind: kindOf(limit),
  value: typeof limit === 'number' ? limit : '',
});

export const isWithin = (value: number | string, least: number, most: number): boolean =>
  value !== '' && Number.isInteger(Number(value)) && Number(value) >= least && Number(value) <= most;

/** Of a level or a rule; 0: an acknowledgement does not end by itself. */
export const isAcknowledgeTime = (ms: number): boolean =>
  ms === 0 || isWithin(ms, limits.acknowledgeMinMs, limits.shelfMs);

/** A whole number from 1 to `most`; undefined while it is none. */
export function limitOf({ kind, value }: LimitValues, most: number): Limit | undefined {
  if (kind !== 'own') return kind === 'off' ? 'off' : null;
  return isWithin(value, 1, most) ? Number(value) : undefined;
}

/** Whether less may be kept than before. The server's default is not known here. */
export const isLess = (next: Limit | undefined, saved: Limit): boolean =>
  typeof next === 'number' && (saved === 'off' || saved === null || next < saved);

/** The fields of a rate. */
export interface RateValues {
  readonly kind: LimitKind;
  readonly perSecond: number | string;
  readonly burst: number | string;
}

export const rateValuesOf = (rate: Rate): RateValues => ({
  kind: kindOf(rate),
  ...(rate === null || rate === 'off' ? { perSecond: '', burst: '' } : rate),
});

export const isRate = (value: number | string): boolean =>
  value !== '' && Number(value) > 0 && Number(value) <= 1_000_000;
export const isBurst = (value: number | string): boolean => isWithin(value, 1, 10_000_000);

/** undefined while one of the numbers is missing or wrong. */
export function rateOf({ kind, perSecond, burst }: RateValues): Rate | undefined {
  if (kind !== 'own') return kind === 'off' ? 'off' : null;
  if (!isRate(perSecond) || !isBurst(burst)) return undefined;
  return { perSecond: Number(perSecond), burst: Number(burst) };
}
