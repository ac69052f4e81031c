/** How long, while somebody types it: an amount of a unit, or without an end. */

export const durationUnits = { s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const;
export type DurationUnit = keyof typeof durationUnits;

export interface DurationDraft {
  readonly endless: boolean;
  readonly amount: number | string;
  readonly unit: DurationUnit;
}

/** In the largest unit that tells it whole; 0 is without an end. */
export function durationDraftOf(ms: number): DurationDraft {
  if (ms === 0) return { endless: true, amount: 30, unit: 's' };
  const units = Object.entries(durationUnits) as [DurationUnit, number][];
  const [unit, length] = units.findLast(([, each]) => ms % each === 0) ?? ['s', 1_000];
  return { endless: false, amount: ms / length, unit };
}

/** In milliseconds, 0 without an end; undefined when it is none, or longer than `mostMs`. */
export function durationOf({ endless, amount, unit }: DurationDraft, mostMs: number): number | undefined {
  if (endless) return 0;
  const ms = Math.round(Number(amount) * durationUnits[unit]);
  return amount !== '' && ms > 0 && ms <= mostMs ? ms : undefined;
}
