import { appendFileSync } from 'node:fs';

/** One line of docs/reliability.md: what is promised, how it was tested, how often, and the result. */
export interface Figure {
  readonly promise: string;
  readonly method: string;
  readonly count: string;
  readonly result: string;
}

/**
 * Prints a figure, and hands it to `npm run torture` when that is what runs the test. To be called before what the figure
 * must satisfy is asserted, so the report also has figures that are missed.
 */
export function report(figure: Figure): void {
  console.log(`${figure.promise} · ${figure.count}: ${figure.result}`);
  const path = process.env.TORTURE_FIGURES;
  if (path !== undefined) appendFileSync(path, `${JSON.stringify(figure)}\n`);
}
