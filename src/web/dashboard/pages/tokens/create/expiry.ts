/** When a token ends, as people choose it. */
import { fromDateTimeField, toDateTimeField } from '#web/dashboard/pieces/time/wall-clock.ts';

export const expiryPresets = ['never', '30', '90', '365', 'date'] as const;

export interface ExpiryDraft {
  readonly preset: (typeof expiryPresets)[number];
  /** As a date and time field has it, by the clock of the tenant. */
  readonly at: string;
}

export const expiryDraftOf = (expiresAt: string | null, timeZone: string): ExpiryDraft =>
  expiresAt === null
    ? { preset: 'never', at: '' }
    : { preset: 'date', at: toDateTimeField(Date.parse(expiresAt), timeZone) };

/** null is never; undefined while there is no time to come. */
export function expiresAtOf(
  { preset, at }: ExpiryDraft,
  timeZone: string,
  now: number,
): string | null | undefined {
  if (preset === 'never') return null;
  const instant = preset === 'date' ? fromDateTimeField(at, timeZone) : now + Number(preset) * 86_400_000;
  return instant === undefined || instant <= now ? undefined : new Date(instant).toISOString();
}
