/** What levels can look and sound like, and what the built-in ones begin with; without schemas, for pages too. */

/** The levels every tenant has; they can be restyled, not deleted. */
export const builtInLevels = ['success', 'info', 'warning', 'error', 'critical'] as const;

/** Icons a panel can draw; a level is never told by colour alone. */
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

/** How a level is ranked, drawn and heard; `durationMs` 0 stays until cleared. */
export interface LevelStyle {
  readonly rank: number;
  readonly color: string;
  readonly icon: (typeof levelIcons)[number];
  readonly sound: (typeof levelSounds)[number];
  readonly durationMs: number;
}

/** The look every tenant starts with. A level is told by icon as well as by colour. */
export const builtInStyles: Readonly<Record<(typeof builtInLevels)[number], LevelStyle>> = {
  success: { rank: 10, color: '#3ecf8e', icon: 'circle-check', sound: 'none', durationMs: 15_000 },
  info: { rank: 20, color: '#58a6ff', icon: 'info-circle', sound: 'none', durationMs: 30_000 },
  warning: { rank: 30, color: '#f2b63c', icon: 'alert-triangle', sound: 'chime', durationMs: 120_000 },
  error: { rank: 40, color: '#ff7466', icon: 'alert-octagon', sound: 'alert', durationMs: 0 },
  critical: { rank: 50, color: '#ff5c8a', icon: 'flame', sound: 'siren', durationMs: 0 },
};
