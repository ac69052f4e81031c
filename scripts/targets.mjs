/** What each npm script runs, as arguments of Node 24, in order. */

/**
 * `goOn`: the following steps run even when this one or an earlier one has failed.
 * `pages`: it shows the pages of src/web, which are built first where they are missing or stale.
 * @typedef {{ argv: string[], goOn?: boolean, pages?: boolean }} Step
 */

// The server runs from its TypeScript sources; the first releases of Node 24 still call that experimental. Room for young
// objects is kept small: more of it makes little faster, and under load it is held. They are collected by the thread
// that made them: helpers would take the cores from the threads that write and send.
const server = [
  ...['--disable-warning=ExperimentalWarning', '--max-semi-space-size=8', '--no-parallel-scavenge'],
  'src/main.ts',
];
const vitest = ['node_modules/vitest/vitest.mjs', 'run'];
const biome = ['node_modules/@biomejs/biome/bin/biome', 'check'];
const tsc = ['node_modules/typescript/bin/tsc', '--noEmit'];
const knip = ['node_modules/knip/bin/knip.js'];

/** What needs no test to run. @type {Step[]} */
const lint = [
  { argv: biome, goOn: true },
  { argv: tsc, goOn: true },
  { argv: [...tsc, '--project', 'src/web'], goOn: true },
  { argv: [...tsc, '--project', 'test/browser'], goOn: true },
  { argv: knip },
];

/** @type {Record<string, (args: string[]) => Step[]>} */
export const targets = {
  start: (args) => [{ argv: [...server, 'serve', ...args], pages: true }],
  belfry: (args) => [{ argv: [...server, ...args], pages: args[0] === 'serve' }],
  test: (args) => [{ argv: [...vitest, ...args] }],
  lint: () => lint,
  check: () => [...lint, { argv: [...vitest, '--project', 'unit'] }],
  'check:fix': () => [{ argv: [...biome, '--write'] }],
  torture: (args) => [
    { argv: ['--disable-warning=ExperimentalWarning', 'test/torture/run.ts', ...args], pages: true },
  ],
  bench: (args) => [{ argv: ['--disable-warning=ExperimentalWarning', 'bench/run.ts', ...args] }],
};

export const targetNames = Object.keys(targets).join(', ');
