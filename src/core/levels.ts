import { builtInLevels, type Level } from '../contract/level.ts';

/** What a level looks like until a tenant changes it; `durationMs` 0 stays until cleared. */
export type LevelStyle = Omit<Level, 'name' | 'builtIn'>;

/** The look every tenant starts with. A level is told by icon as well as by colour. */
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
