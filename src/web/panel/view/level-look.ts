import type { Level } from '../../../contract/level.ts';
import { fillUnderWhite, readableOn } from '../../level-color.ts';
import type { PanelTranslate } from '../texts/panel-texts.ts';

/** How a level is told: never by colour alone. */
export interface LevelLook {
  readonly word: string;
  readonly icon: string;
  /** CSS colours: of words and icons on a card, and of a card that is filled with it. */
  readonly color: string;
  readonly fill: string;
}

/** The colours the built-in levels begin with have a hand-picked other one in the light scheme. */
const untouched: Readonly<Record<string, string>> = {
  success: '#3ecf8e',
  info: '#58a6ff',
  warning: '#f2b63c',
  error: '#ff7466',
  critical: '#ff5c8a',
};
const surface = { dark: '#12161f', light: '#ffffff' };
const standIn = { color: '#58a6ff', icon: 'info-circle' };

export function levelLook(
  name: string,
  level: Level | undefined,
  scheme: 'dark' | 'light',
  translate: PanelTranslate,
): LevelLook {
  const { color, icon } = level ?? standIn;
  const isBuiltIn = Object.hasOwn(untouched, name);
  const word = isBuiltIn ? translate(`level.${name}` as 'level.info') : name;
  if (isBuiltIn && untouched[name] === color) {
    const fill = name === 'critical' ? 'var(--critical-fill)' : fillUnderWhite(color);
    return { word, icon, color: `var(--${name})`, fill };
  }
  return { word, icon, color: readableOn(color, surface[scheme]), fill: fillUnderWhite(color) };
}
