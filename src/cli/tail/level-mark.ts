import type { Level } from '#contract/level.ts';

export interface LevelMark {
  /** One column wide. */
  readonly icon: string;
  readonly word: string;
  readonly color: string;
}

/** The icons of the built-in levels as plain geometric characters, which every terminal font has; others are a dot. */
const icons: Readonly<Partial<Record<Level['icon'], string>>> = {
  'circle-check': '✓',
  'info-circle': '●',
  'alert-triangle': '▲',
  'alert-octagon': '■',
  flame: '◆',
  bolt: '↯',
  flag: '⚑',
  heart: '♥',
  star: '★',
};

/** A level in a terminal: always a sign and a word, with or without its colour. */
export function levelMark(name: string, level: Level | undefined): LevelMark {
  return {
    icon: (level && icons[level.icon]) ?? '•',
    word: name.toUpperCase(),
    color: level?.color ?? '#58a6ff',
  };
}
