import type { Level } from '#contract/routing/level.ts';
import { builtInStyles } from '#contract/routing/level-styles.ts';
import { fillUnderWhite, readableOn } from './level-color.ts';

/** How a level is displayed: never by colour alone. */
export interface LevelLook {
  readonly word: string;
  readonly icon: string;
  /** CSS colours: of text and icons, and of a filled card. */
  readonly color: string;
  readonly fill: string;
}

/** The background with the least contrast to a level's word: `--raised`, the colour of a hovered row. */
const worstBackground = { dark: '#181d28', light: '#f0f2f5' };
const defaultStyle = builtInStyles.info;

/** The chosen colour, adjusted if necessary so that it is readable. */
export const shownColor = (color: string, scheme: 'dark' | 'light'): string =>
  readableOn(color, worstBackground[scheme]);

/** @param wordOf The word of a built-in level in the reader's language. */
export function levelLook(
  name: string,
  level: Level | undefined,
  scheme: 'dark' | 'light',
  wordOf: (builtIn: string) => string,
): LevelLook {
  const { color, icon } = level ?? defaultStyle;
  const isBuiltIn = isBuiltInName(name);
  const word = isBuiltIn ? wordOf(name) : name;
  // The default colours of built-in levels have hand-picked variants for the light scheme.
  if (isBuiltIn && builtInStyles[name].color === color) {
    const fill = name === 'critical' ? 'var(--critical-fill)' : fillUnderWhite(color);
    return { word, icon, color: `var(--${name})`, fill };
  }
  return { word, icon, color: shownColor(color, scheme), fill: fillUnderWhite(color) };
}

const isBuiltInName = (name: string): name is keyof typeof builtInStyles =>
  Object.hasOwn(builtInStyles, name);
