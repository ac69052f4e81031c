/**
 * The one way into a checkout: `node scripts/run.mjs <target> [arguments]`, used by every npm script (by way of
 * run.sh, which finds the Node).
 *
 * Makes sure of a new enough Node and of the dependencies, then becomes the target; where Node cannot do
 * that, it runs it with the terminal, the signals and the exit status passed through. Works on any Node from 18 on, needs no dependency, and writes
 * nothing to stdout, which belongs to the target.
 */
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from './build.mjs';
import { become, die, endWith, run } from './child.mjs';
import { ensureDependencies } from './dependencies.mjs';
import { ensureNode } from './node-runtime.mjs';
import { SetupError } from './setup-error.mjs';
import { targetNames, targets } from './targets.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/**
 * @param {string | undefined} name
 * @param {string[]} args
 */
async function main(name, args) {
  const target = targets[name ?? ''];
  if (!target) {
    throw new SetupError(`unknown target ${JSON.stringify(name ?? '')}`, `use one of: ${targetNames}`, 2);
  }

  const node = await ensureNode(root);
  const env = {
    // What Node compiled is kept between starts, types stripped: a start takes a third of the time.
    NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node-compile'),
    ...process.env,
    PATH: [dirname(node), process.env.PATH ?? ''].join(delimiter),
  };
  await ensureDependencies(root, node, env);

  /** @type {import('./child.mjs').Ending} */
  let ending = { code: 0, signal: null };
  const steps = target(args);
  for (const [i, { argv, goOn, built = [] }] of steps.entries()) {
    for (const product of built) await ensureBuilt(product, root, node, env);
    if (!argv) continue;
    if (i === steps.length - 1 && ending.code === 0) become(node, argv, { cwd: root, env });
    const next = await run(node, argv, { cwd: root, env });
    if (next.signal || next.code !== 0) ending = next;
    if (ending.signal || (ending.code !== 0 && !goOn)) break;
  }
  return ending;
}

try {
  const { code, signal } = await main(process.argv[2], process.argv.slice(3));
  if (signal) die(signal);
  else process.exitCode = code;
} catch (error) {
  endWith(error);
}
