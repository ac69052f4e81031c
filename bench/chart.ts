/** Line charts as plain SVG, readable on light and dark backgrounds. */

export interface Curve {
  readonly name: string;
  /** Pairs of a size and the value measured at it. */
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Chart {
  readonly title: string;
  readonly unit: string;
  readonly curves: readonly Curve[];
}

const [width, height, margin] = [560, 340, 56];
const legendHeight = 40;
const colors = ['#2f6fed', '#d9480f', '#2b8a3e', '#9c36b5'];
const colorOf = (curve: number) => colors[curve % colors.length];

/** Charts of the same curves, two beside each other, under one legend. */
export function chartSheet(charts: readonly Chart[]): string {
  const names = charts[0]?.curves.map(({ name }) => name) ?? [];
  const legend = names.map(
    (name, i) =>
      `<circle cx="${margin + i * 230}" cy="20" r="5" fill="${colorOf(i)}"/>${text(margin + 12 + i * 230, 24, name, `fill="${colorOf(i)}"`)}`,
  );
  const placed = charts.map(
    (chart, i) =>
      `<g transform="translate(${(i % 2) * width} ${legendHeight + Math.floor(i / 2) * height})">${lineChart(chart)}</g>`,
  );
  const whole = `0 0 ${2 * width} ${legendHeight + Math.ceil(charts.length / 2) * height}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${whole}" font-family="sans-serif" font-size="12" fill="#777">
${[...legend, ...placed].join('\n')}
</svg>
`;
}

/** Sizes on a logarithmic scale (0 is drawn at 1), values on a linear one from 0. */
function lineChart({ title, unit, curves }: Chart): string {
  const all = curves.flatMap(({ points }) => points);
  const most = Math.max(...all.map(([, y]) => y)) * 1.1 || 1;
  const decades = Math.max(1, Math.log10(Math.max(10, ...all.map(([x]) => x))));
  const px = (x: number) => margin + (Math.log10(Math.max(1, x)) / decades) * (width - 2 * margin);
  const py = (y: number) => height - margin - (y / most) * (height - 2 * margin);
  const lines = curves.map(({ points }, i) => {
    const path = points.map(([x, y]) => `${px(x).toFixed(1)},${py(y).toFixed(1)}`).join(' ');
    const dots = points.map(
      ([x, y]) => `<circle cx="${px(x).toFixed(1)}" cy="${py(y).toFixed(1)}" r="4" fill="${colorOf(i)}"/>`,
    );
    return `<polyline points="${path}" fill="none" stroke="${colorOf(i)}" stroke-width="2"/>${dots.join('')}`;
  });
  const ticks = Array.from({ length: Math.floor(decades) + 1 }, (_, d) =>
    text(px(10 ** d), height - margin + 20, shortCount(10 ** d), 'text-anchor="middle"'),
  );
  const written = (y: number) => y.toLocaleString('en-US', { maximumSignificantDigits: 3 });
  const scale = [0, most / 2, most].map((y) => text(margin - 8, py(y) + 4, written(y), 'text-anchor="end"'));
  const axes = `<path d="M${margin} ${margin - 20}V${height - margin}H${width - margin}" fill="none" stroke="#999"/>`;
  return [text(margin, 24, `${title} (${unit})`, 'font-size="15"'), axes, ...ticks, ...scale, ...lines].join(
    '\n',
  );
}

const shortCount = (count: number) =>
  count.toLocaleString('en-US', { notation: 'compact', maximumSignificantDigits: 3 });

const text = (x: number, y: number, value: string, more = '') =>
  `<text x="${x.toFixed(0)}" y="${y.toFixed(0)}" ${more}>${value}</text>`;
