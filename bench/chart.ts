/** Curves as a picture: plain SVG that reads on light and on dark. */

export interface Curve {
  readonly name: string;
  /** Size and what was measured at it. */
  readonly points: readonly (readonly [x: number, y: number])[];
}

const [width, height, margin] = [640, 360, 60];
const colors = ['#2f6fed', '#d9480f', '#2b8a3e', '#9c36b5'];

/** Sizes on a logarithmic scale (0 stands at 1), measures from 0. */
export function lineChart(title: string, unit: string, curves: readonly Curve[]): string {
  const all = curves.flatMap(({ points }) => points);
  const most = Math.max(1, ...all.map(([, y]) => y)) * 1.1;
  const decades = Math.max(1, Math.log10(Math.max(10, ...all.map(([x]) => x))));
  const px = (x: number) => margin + (Math.log10(Math.max(1, x)) / decades) * (width - 2 * margin);
  const py = (y: number) => height - margin - (y / most) * (height - 2 * margin);
  const text = (x: number, y: number, value: string, more = '') =>
    `<text x="${x.toFixed(0)}" y="${y.toFixed(0)}" ${more}>${value}</text>`;
  const lines = curves.map(({ name, points }, i) => {
    const color = colors[i % colors.length];
    const path = points.map(([x, y]) => `${px(x).toFixed(1)},${py(y).toFixed(1)}`).join(' ');
    const dots = points.map(
      ([x, y]) => `<circle cx="${px(x).toFixed(1)}" cy="${py(y).toFixed(1)}" r="4" fill="${color}"/>`,
    );
    const legend = text(margin + 10, 50 + i * 18, name, `fill="${color}"`);
    return `<polyline points="${path}" fill="none" stroke="${color}" stroke-width="2"/>${dots.join('')}${legend}`;
  });
  const ticks = Array.from({ length: Math.floor(decades) + 1 }, (_, d) =>
    text(px(10 ** d), height - margin + 20, (10 ** d).toLocaleString('en-US'), 'text-anchor="middle"'),
  );
  const scale = [0, most / 2, most].map((y) =>
    text(margin - 8, py(y) + 4, Math.round(y).toLocaleString('en-US'), 'text-anchor="end"'),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#777">
${text(margin, 24, `${title} (${unit})`, 'font-size="15"')}
<path d="M${margin} ${margin - 20}V${height - margin}H${width - margin}" fill="none" stroke="#999"/>
${[...ticks, ...scale, ...lines].join('\n')}
</svg>
`;
}
