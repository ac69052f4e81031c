import type { Level } from './level.ts';
import type { DisplaySettings } from './panel.ts';

/** The lowest rank that a panel shows: all, when its settings name no level. */
export function minRankOf(
  { minLevel }: Pick<DisplaySettings, 'minLevel'>,
  levels: ReadonlyMap<string, Pick<Level, 'rank'>>,
): number {
  return (minLevel === undefined ? undefined : levels.get(minLevel)?.rank) ?? Number.NEGATIVE_INFINITY;
}
