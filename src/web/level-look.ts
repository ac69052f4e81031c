import type { Level } from '#contract/level.ts';
import { builtInStyles } from '#contract/level-styles.ts';
import { fillUnderWhite, readableOn } from './level-color.ts';

/** How a level is told: never by colour alone. */
export interface LevelLook {
  readonly word: string;
  readonly icon: string;
  /** CSS colours: of words and icons on a card, and of a card that is filled with it. */
  readonly color: string;
  readonly fill: string;
}

/** Of the surfaces that a level's word stands on, the one it is hardest to read on: --raised, under a row that is pointed at. */
const hardest = { dark: '#181d28', light: '#f0f2f5' };
const standIn = builtInStyles.info;

/** What is shown of a colour that was chosen: itself, or as near to it as can be read. */
export const shownColor = (color: string, scheme: 'dark' | 'light'): string =>
  readableOn(color, hardest[scheme]);

/** @param wordOf The word of a built-in level in the reader's language. */
export function levelLook(
  name: string,
  level: Level | undefined,
  scheme: 'dark' | 'light',
  wordOf: (builtIn: string) => string,
): LevelLook {
  const { color, icon } = level ?? standIn;
  const isBuiltIn = isBuiltInName(name);
  const word = isBuiltIn ? wordOf(name) : name;
  // What the built-in levels begin with has a hand-picked other colour in the light scheme.
  if (isBuiltIn && builtInStyles[name].color === color) {
    const fill = name === 'critical' ? 'var(--critical-fill)' : fillUnderWhite(color);
    return { word, icon, color: `var(--${name})`, fill };
  }
  return { word, icon, color: shownColor(color, scheme), fill: fillUnderWhite(color) };
}

const isBuiltInName = (name: string): name is keyof typeof builtInStyles =>
  Object.hasOwn(builtInStyles, name);
