/** The pages in dist/web, built from src/web when they are not what the sources say. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runQuietly } from './child.mjs';
import { withLock } from './lock.mjs';
import { SetupError } from './setup-error.mjs';

/** All that a page can be made of. */
const SOURCES = ['src/web', 'src/client', 'src/contract', 'vite.config.ts', 'package-lock.json'];

/**
 * Makes dist/web fit its sources. Costs reading them when it does.
 * @param {string} root
 * @param {string} node
 * @param {NodeJS.ProcessEnv} env
 */
export async function ensurePages(root, node, env) {
  if (!existsSync(join(root, 'src', 'web'))) return;
  const wanted = fingerprint(root);
  const built = () => readText(join(root, 'dist', 'web', '.built')) === wanted;
  if (built()) return;
  await withLock(root, async (onStart) => {
    if (built()) return;
    process.stderr.write('belfry: building the pages …\n');
    const fresh = join(root, 'dist', `.web-${process.pid}`);
    const vite = join('node_modules', 'vite', 'bin', 'vite.js');
    const { code, output } = await runQuietly(
      node,
      [vite, 'build', '--logLevel', 'warn', '--outDir', fresh],
      // A build begun by the tests is the same as any other: not React's slower one for development.
      { cwd: root, env: { ...env, NODE_ENV: 'production' }, onStart },
    );
    if (code !== 0) {
      rmSync(fresh, { recursive: true, force: true });
      throw new SetupError(
        `building the pages failed; vite said:\n${output.trimEnd()}`,
        'mend the cause above, then run the same command again',
      );
    }
    writeFileSync(join(fresh, '.built'), wanted);
    swap(join(root, 'dist', 'web'), fresh);
  });
}

/**
 * A server that is running meanwhile misses the pages for a moment at most.
 * @param {string} folder
 * @param {string} fresh
 */
function swap(folder, fresh) {
  const old = `${fresh}-old`;
  mkdirSync(join(folder, '..'), { recursive: true });
  if (existsSync(folder)) renameSync(folder, old);
  renameSync(fresh, folder);
  rmSync(old, { recursive: true, force: true });
}

/** @param {string} root */
function fingerprint(root) {
  const hash = createHash('sha256');
  for (const path of SOURCES.flatMap((source) => filesOf(root, source))) {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0');
  }
  return `${hash.digest('hex')}\n`;
}

/**
 * The files at or under `path`, in one order on every machine; tests are no part of a page.
 * @param {string} root
 * @param {string} path
 * @returns {string[]}
 */
function filesOf(root, path) {
  if (/\.test\.ts$/.test(path) || !existsSync(join(root, path))) return [];
  if (/\.\w+$/.test(path)) return [path];
  return readdirSync(join(root, path))
    .sort()
    .flatMap((name) => filesOf(root, `${path}/${name}`));
}

/** @param {string} path */
function readText(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
