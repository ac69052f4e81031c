/** How levels look and sound, without schemas: pages load this file. */

/** The levels every tenant has; they can be restyled, not deleted. */
export const builtInLevels = ['success', 'info', 'warning', 'error', 'critical'] as const;

/** Icons a panel can draw; colour alone never identifies a level. */
export const levelIcons = [
  'circle-check',
  'info-circle',
  'alert-triangle',
  'alert-octagon',
  'flame',
  'bell',
  'bolt',
  'bug',
  'clock',
  'cloud',
  'database',
  'flag',
  'heart',
  'lock',
  'message',
  'package',
  'phone',
  'rocket',
  'server',
  'shield',
  'star',
  'tag',
  'thermometer',
  'tool',
  'truck',
  'user',
  'wifi',
] as const;

/** Sounds a panel can play. */
export const levelSounds = ['none', 'chime', 'ping', 'knock', 'alert', 'alarm', 'siren'] as const;

/** Rank, look and sound of a level; `durationMs` 0 means until cleared. */
export interface LevelStyle {
  readonly rank: number;
  readonly color: string;
  readonly icon: (typeof levelIcons)[number];
  readonly sound: (typeof levelSounds)[number];
  readonly durationMs: number;
}

/** The look every tenant starts with. The icon identifies a level as well as the colour. */
export const builtInStyles: Readonly<Record<(typeof builtInLevels)[number], LevelStyle>> = {
  success: { rank: 10, color: '#3ecf8e', icon: 'circle-check', sound: 'none', durationMs: 15_000 },
  info: { rank: 20, color: '#58a6ff', icon: 'info-circle', sound: 'none', durationMs: 30_000 },
  warning: { rank: 30, color: '#f2b63c', icon: 'alert-triangle', sound: 'chime', durationMs: 120_000 },
  error: { rank: 40, color: '#ff7466', icon: 'alert-octagon', sound: 'alert', durationMs: 0 },
  critical: { rank: 50, color: '#ff5c8a', icon: 'flame', sound: 'siren', durationMs: 0 },
};

export function isBuiltInLevel(name: string): boolean {
  return (builtInLevels as readonly string[]).includes(name);
}

/** Built-in levels first, as they are listed in the contract, then the others by name. */
export function compareLevels(a: { readonly name: string }, b: { readonly name: string }): number {
  const place = (name: string) => {
    const index = (builtInLevels as readonly string[]).indexOf(name);
    return index === -1 ? builtInLevels.length : index;
  };
  return place(a.name) - place(b.name) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}

/** The lowest rank that a panel shows; negative infinity if its display settings name no `minLevel`. */
export function minRankOf(
  { minLevel }: { readonly minLevel?: string | undefined },
  levels: ReadonlyMap<string, { readonly rank: number }>,
): number {
  return (minLevel === undefined ? undefined : levels.get(minLevel)?.rank) ?? Number.NEGATIVE_INFINITY;
}
