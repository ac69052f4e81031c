/** A level while somebody restyles it. */

import type { Level, LevelPut } from '#contract/level.ts';
import type { LevelStyle } from '#contract/level-styles.ts';
import { limits } from '#contract/limits.ts';
import { type DurationDraft, durationDraftOf, durationOf } from '#web/dashboard/components/duration.ts';

export interface LevelDraft {
  readonly rank: number | string;
  readonly color: string;
  readonly icon: LevelStyle['icon'];
  readonly sound: LevelStyle['sound'];
  readonly duration: DurationDraft;
}

export const levelDraftOf = ({ rank, color, icon, sound, durationMs }: LevelStyle): LevelDraft => ({
  rank,
  color,
  icon,
  sound,
  duration: durationDraftOf(durationMs),
});

const isRank = (rank: number | string) =>
  rank !== '' && Number.isInteger(Number(rank)) && Number(rank) >= 0 && Number(rank) <= 1_000;
const isColor = (color: string) => /^#[0-9a-f]{6}$/.test(color);

/** By field, as the key of the sentence that says it. */
export function problemsOf(draft: LevelDraft) {
  return {
    ...(!isRank(draft.rank) && { rank: 'rankWrong' as const }),
    ...(!isColor(draft.color) && { color: 'colorWrong' as const }),
    ...(durationOf(draft.duration, limits.ttlMaxMs) === undefined && { duration: 'durationWrong' as const }),
  };
}

/** undefined while something is wrong. */
export function styleOf(draft: LevelDraft): Required<LevelPut> | undefined {
  const durationMs = durationOf(draft.duration, limits.ttlMaxMs);
  if (durationMs === undefined || !isRank(draft.rank) || !isColor(draft.color)) return undefined;
  const { color, icon, sound } = draft;
  return { rank: Number(draft.rank), color, icon, sound, durationMs };
}

/** The level as it would be: what is wrong stays as it was. */
export function levelOf(saved: Level, draft: LevelDraft): Level {
  const { color, icon, sound } = draft;
  return {
    ...saved,
    icon,
    sound,
    rank: isRank(draft.rank) ? Number(draft.rank) : saved.rank,
    color: isColor(color) ? color : saved.color,
    durationMs: durationOf(draft.duration, limits.ttlMaxMs) ?? saved.durationMs,
  };
}

/** What levels are called, in lower case as the server keeps them. */
export const isLevelName = (name: string): boolean => limits.levelPattern.test(name);
