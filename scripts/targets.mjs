/** What each npm script runs, as arguments of Node 24, in order. */

/**
 * `goOn`: the following steps run even when this one or an earlier one has failed.
 * `built`: what it needs of dist/, which is built first where it is missing or stale.
 * @typedef {{ argv?: string[], goOn?: boolean, built?: import('./build.mjs').Product[] }} Step
 */

// Built, it takes half the time to start and a fifth less memory than from its sources. Room for young objects is kept
// small: more of it makes little faster, and under load it is held. They are collected by the thread that made them:
// helpers would take the cores from the threads that write and send.
const server = ['--max-semi-space-size=12', '--no-parallel-scavenge', 'dist/server/main.js'];
const test = ['--disable-warning=ExperimentalWarning', 'test/run.ts'];
const biome = ['node_modules/@biomejs/biome/bin/biome', 'check'];
// By one checker: each of several would look at most types anew, which takes nearly twice the processor time.
const tsc = ['node_modules/typescript/bin/tsc', '--noEmit', '--checkers', '1'];
const knip = ['node_modules/knip/bin/knip.js'];

/** What needs no test to run. @type {Step[]} */
const lint = [
  { argv: biome, goOn: true },
  { argv: tsc, goOn: true },
  { argv: [...tsc, '--project', 'src/web'], goOn: true },
  { argv: [...tsc, '--project', 'test/browser'], goOn: true },
  { argv: knip },
];

/** @type {(args: string[]) => Step[]} */
const serve = (args) => [
  { argv: ['scripts/check-settings.ts'] },
  { argv: [...server, 'serve', ...args], built: ['pages', 'docs', 'server'] },
];

/** @type {Record<string, (args: string[]) => Step[]>} */
export const targets = {
  start: serve,
  belfry: (args) =>
    args[0] === 'serve' ? serve(args.slice(1)) : [{ argv: [...server, ...args], built: ['server'] }],
  test: (args) => [{ argv: [...test, ...args] }],
  'test:busy': (args) => [{ argv: ['--disable-warning=ExperimentalWarning', 'test/busy.ts', ...args] }],
  lint: () => lint,
  check: () => [...lint, { argv: [...test, '--project', 'unit'] }],
  'check:fix': () => [{ argv: [...biome, '--write'] }],
  // All of dist/, for the package and the container image.
  build: () => [{ built: ['pages', 'docs', 'server', 'client'] }],
  torture: (args) => [
    {
      argv: ['--disable-warning=ExperimentalWarning', 'test/torture/run.ts', ...args],
      built: ['pages', 'server'],
    },
  ],
  bench: (args) => [
    { argv: ['--disable-warning=ExperimentalWarning', 'bench/run.ts', ...args], built: ['server'] },
  ],
};

export const targetNames = Object.keys(targets).join(', ');
