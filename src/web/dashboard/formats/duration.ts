/** A duration as a form field: an amount and a unit. */

export const durationUnits = { s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const;
export type DurationUnit = keyof typeof durationUnits;
export const unitNames = Object.keys(durationUnits) as DurationUnit[];

export interface Duration {
  readonly amount: number | string;
  readonly unit: DurationUnit;
}

/** Uses the largest unit that gives a whole number. The amount is empty unless `ms` is above 0. */
export function durationOf(ms: number): Duration {
  if (!(ms > 0)) return { amount: '', unit: 's' };
  const unit = unitNames.findLast((name) => ms % durationUnits[name] === 0) ?? 's';
  return { amount: ms / durationUnits[unit], unit };
}

/** Milliseconds; NaN when the amount is missing or not above 0. */
export function msOf({ amount, unit }: Duration): number {
  const ms = Math.round(Number(amount) * durationUnits[unit]);
  return amount !== '' && ms > 0 ? ms : Number.NaN;
}
