/** The fields of a level, and what is wrong with them. */
import { limits } from '#contract/limits.ts';
import type { Level, LevelPut } from '#contract/routing/level.ts';
import { isWithin } from '#web/dashboard/fields/limits.ts';

export interface LevelValues extends Omit<Required<LevelPut>, 'rank'> {
  readonly rank: number | string;
}

export const levelValuesOf = ({
  rank,
  color,
  icon,
  sound,
  durationMs,
  repeatMs = 0,
}: Level): LevelValues => ({
  rank,
  color,
  icon,
  sound,
  durationMs,
  repeatMs,
});

/** By field, as the key of its text. */
export const problemsOf = ({ rank, color, durationMs, repeatMs }: LevelValues) => ({
  ...(!isWithin(rank, 0, 1_000) && { rank: 'rankWrong' as const }),
  ...(!/^#[0-9a-f]{6}$/.test(color) && { color: 'colorWrong' as const }),
  ...(!(durationMs >= 0 && durationMs <= limits.ttlMaxMs) && { durationMs: 'durationWrong' as const }),
  ...(!(repeatMs === 0 || (repeatMs >= 5_000 && repeatMs <= 86_400_000)) && {
    repeatMs: 'repeatWrong' as const,
  }),
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
    ...(!problems.repeatMs && { repeatMs: values.repeatMs }),
  };
}
