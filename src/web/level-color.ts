/** Tenants choose a level's colour once; these keep it readable on every surface it stands on. */

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
