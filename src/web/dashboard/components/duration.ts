/** A length of time as a person enters it: an amount of a unit. */

export const durationUnits = { s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const;
export type DurationUnit = keyof typeof durationUnits;
export const unitNames = Object.keys(durationUnits) as DurationUnit[];

export interface Duration {
  readonly amount: number | string;
  readonly unit: DurationUnit;
}

/** In the largest unit that gives a whole number; empty for what is no length of time. */
export function durationOf(ms: number): Duration {
  if (!(ms > 0)) return { amount: '', unit: 's' };
  const unit = unitNames.findLast((name) => ms % durationUnits[name] === 0) ?? 's';
  return { amount: ms / durationUnits[unit], unit };
}

/** NaN when the amount is missing or not above 0. */
export function msOf({ amount, unit }: Duration): number {
  const ms = Math.round(Number(amount) * durationUnits[unit]);
  return amount !== '' && ms > 0 ? ms : Number.NaN;
}
