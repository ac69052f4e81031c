/** The fields of a level, and what is wrong with them. */
import type { Level, LevelPut } from '#contract/level.ts';
import { limits } from '#contract/limits.ts';
import { isWithin } from '#web/dashboard/components/limits.ts';

export interface LevelValues extends Omit<Required<LevelPut>, 'rank'> {
  readonly rank: number | string;
}

export const levelValuesOf = ({ rank, color, icon, sound, durationMs }: Level): LevelValues => ({
  rank,
  color,
  icon,
  sound,
  durationMs,
});

/** By field, as the key of its text. */
export const problemsOf = ({ rank, color, durationMs }: LevelValues) => ({
  ...(!isWithin(rank, 0, 1_000) && { rank: 'rankWrong' as const }),
  ...(!/^#[0-9a-f]{6}$/.test(color) && { color: 'colorWrong' as const }),
  ...(!(durationMs >= 0 && durationMs <= limits.ttlMaxMs) && { durationMs: 'durationWrong' as const }),
});

/** The level with the fields that are right; the others stay as they were. */
export function levelOf(saved: Level, values: LevelValues): Level {
  const problems = problemsOf(values);
  return {
    ...saved,
    icon: values.icon,
    sound: values.sound,
    ...(!problems.rank && { rank: Number(values.rank) }),
    ...(!problems.color && { color: values.color }),
    ...(!problems.durationMs && { durationMs: values.durationMs }),
  };
}
