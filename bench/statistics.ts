/** Statistics over rounds, and their formatting. */

export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

export const median = (values: readonly number[]) => quantile(values, 0.5);

/** The median with minimum and maximum, as in `4,210 (4,050 – 4,390)`. */
export function spread(values: readonly number[], write: (value: number) => string): string {
  return `${write(median(values))} (${write(Math.min(...values))} – ${write(Math.max(...values))})`;
}

export const whole = (value: number) => Math.round(value).toLocaleString('en-US');
export const percent = (ratio: number) => `${(ratio * 100).toFixed(0)} %`;
export const times = (ratio: number) => `${ratio.toFixed(2)}×`;
export const micros = (value: number) => `${value.toFixed(0)} µs`;
export const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 1)} ms`;

/** A table in Markdown; the first row is its head. */
export function table(rows: readonly (readonly string[])[]): string {
  const [head = [], ...rest] = rows;
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rest.map(line)].join('\n');
}
