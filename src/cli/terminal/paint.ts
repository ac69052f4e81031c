/** Colour on a terminal. */

export interface Style {
  /** Of the text, as in #58a6ff. */
  readonly color?: string;
  /** Of what is behind it. */
  readonly fill?: string;
  readonly bold?: boolean;
  readonly dim?: boolean;
}

/** Gives a text its style. The text itself holds no escape sequence. */
export type Paint = (text: string, style: Style) => string;

export type ColorDepth = 'none' | 'ansi16' | 'truecolor';

/** What the terminal can and the reader wants: NO_COLOR (no-color.org) goes before everything. */
export function colorDepth(env: Readonly<Record<string, string | undefined>>, bits: number): ColorDepth {
  if (env.NO_COLOR) return 'none';
  if (bits >= 24) return 'truecolor';
  return bits >= 4 ? 'ansi16' : 'none';
}

/** Bold and dim are no colours: they stay without them. */
export function createPaint(depth: ColorDepth): Paint {
  return (text, { color, fill, bold, dim }) => {
    const codes = [...(bold ? ['1'] : []), ...(dim ? ['2'] : [])];
    if (color && depth !== 'none') codes.push(colorCode(color, depth, 'text'));
    if (fill && depth !== 'none') codes.push(colorCode(fill, depth, 'fill'));
    return codes.length === 0 || text === '' ? text : `\x1b[${codes.join(';')}m${text}\x1b[0m`;
  };
}

/** The sixteen as most terminals draw them; the bright half first, as text on dark ground is easier to read in it. */
const ansiColors: readonly (readonly [code: number, r: number, g: number, b: number])[] = [
  [91, 255, 100, 100],
  [92, 80, 220, 120],
  [93, 245, 200, 70],
  [94, 90, 150, 255],
  [95, 255, 90, 160],
  [96, 90, 220, 230],
  [97, 255, 255, 255],
  [31, 180, 20, 30],
  [32, 20, 140, 60],
  [33, 150, 110, 20],
  [34, 30, 60, 180],
  [35, 180, 18, 90],
  [36, 20, 140, 150],
  [37, 200, 200, 200],
  [90, 110, 110, 120],
  [30, 0, 0, 0],
];

function colorCode(hex: string, depth: ColorDepth, where: 'text' | 'fill'): string {
  const [r, g, b] = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as [
    number,
    number,
    number,
  ];
  if (depth === 'truecolor') return `${where === 'text' ? 38 : 48};2;${r};${g};${b}`;
  const distance = ([, R, G, B]: readonly [number, number, number, number]) =>
    (r - R) ** 2 + (g - G) ** 2 + (b - B) ** 2;
  const nearest = ansiColors.reduce((best, one) => (distance(one) < distance(best) ? one : best));
  return String(nearest[0] + (where === 'text' ? 0 : 10));
}
