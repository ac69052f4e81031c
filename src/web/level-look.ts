/** Tenants choose a level's colour once; these keep it readable on every surface it stands on. */

import type { Level } from '#contract/routing/level.ts';
import { builtInStyles } from '#contract/routing/level-styles.ts';

type Rgb = readonly [number, number, number];

/** The least contrast of text with its surface (WCAG 2.2, AA). */
const enough = 4.5;
const steps = 40;

/** The contrast of two colours, from 1 to 21. */
export function contrast(a: string, b: string): number {
  const [dark, light] = [luminance(parse(a)), luminance(parse(b))].sort((x, y) => x - y) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** `color`, made as little lighter or darker as necessary to be readable on `surface`. */
export function readableOn(color: string, surface: string): string {
  const toward: Rgb = luminance(parse(surface)) > 0.18 ? [0, 0, 0] : [255, 255, 255];
  return stepUntil(color, toward, (mixed) => contrast(mixed, surface) >= enough);
}

/** `color`, darkened until white text can be read on it with some to spare. */
export function fillUnderWhite(color: string): string {
  return stepUntil(color, [0, 0, 0], (mixed) => contrast(mixed, '#ffffff') >= 6);
}

function stepUntil(color: string, toward: Rgb, holds: (mixed: string) => boolean): string {
  const from = parse(color);
  for (let step = 0; step < steps; step++) {
    const mixed = format(from.map((value, at) => value + ((toward[at] ?? 0) - value) * (step / steps)));
    if (holds(mixed)) return mixed;
  }
  return format(toward);
}

function parse(color: string): Rgb {
  const value = Number.parseInt(color.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

function format(rgb: readonly number[]): string {
  return `#${rgb.map((value) => Math.round(value).toString(16).padStart(2, '0')).join('')}`;
}

/** Relative luminance, as WCAG defines it. */
function luminance(rgb: Rgb): number {
  const [r, g, b] = rgb.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

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
  Object.keys(builtInStyles).includes(name);
