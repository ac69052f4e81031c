/** node_modules that are what package-lock.json says, installed when they are not. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './lock.mjs';
import { explainNpm, NPM_QUIET, npm } from './npm.mjs';
import { SetupError } from './setup-error.mjs';

/** @typedef {{ version?: string, integrity?: string, optional?: boolean, os?: string[], cpu?: string[], libc?: string[] }} Package */
/** @typedef {{ packages: Record<string, Package> }} Lock */

const RETRY = 'mend the cause above, then run the same command again';

/**
 * Makes node_modules fit package-lock.json, by `npm ci` where they do not. Costs one hash when they do.
 * @param {string} root
 * @param {string} node
 * @param {NodeJS.ProcessEnv} env
 */
export async function ensureDependencies(root, node, env) {
  const lock = readText(join(root, 'package-lock.json'));
  if (lock === undefined) {
    throw new SetupError('package-lock.json is missing', 'restore it: git checkout -- package-lock.json');
  }
  const marker = join(root, 'node_modules', '.belfry-installed');
  const wanted = fingerprint(lock, node);
  if (readText(marker) === wanted || adopt(root, lock, marker, wanted)) return;

  await withLock(root, async (onStart) => {
    if (readText(marker) === wanted) return;
    process.stderr.write('belfry: installing dependencies (npm ci) …\n');
    const { code, output } = await npm(node, ['ci', ...NPM_QUIET], { cwd: root, env, onStart });
    if (code !== 0) throw explainNpm('installing the dependencies failed', output, RETRY);
    mkdirSync(join(root, 'node_modules'), { recursive: true });
    writeFileSync(marker, wanted);
  });
}

/**
 * The lock file, the platform and the Node that the packages were chosen for.
 * @param {string} lock
 * @param {string} node
 */
function fingerprint(lock, node) {
  const major = node === process.execPath ? Number.parseInt(process.versions.node, 10) : 24;
  const hash = createHash('sha256').update(lock).digest('hex');
  return `${hash} node${major} ${process.platform}-${process.arch}\n`;
}

/**
 * Recognises an installation made by hand, with `npm ci` or `npm install`, by npm's own record of it.
 * Without this, every such installation would be thrown away and made again at the next start.
 * @param {string} root
 * @param {string} lockText
 * @param {string} marker
 * @param {string} wanted
 */
function adopt(root, lockText, marker, wanted) {
  const record = readText(join(root, 'node_modules', '.package-lock.json'));
  if (record === undefined || !agrees(parse(lockText), parse(record))) return false;
  try {
    writeFileSync(marker, wanted);
  } catch {
    // A read-only checkout is compared again at every start, which is only a little slower.
  }
  return true;
}

/**
 * @param {Lock} lock
 * @param {Lock} installed
 */
function agrees(lock, installed) {
  const misfit = (/** @type {Package} */ { os, cpu }) =>
    (os && !os.includes(process.platform)) || (cpu && !cpu.includes(process.arch));
  if (!lock.packages['']) return false;
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (path === '') continue;
    const found = installed.packages[path];
    if (found) {
      if (found.version !== entry.version || found.integrity !== entry.integrity || misfit(found))
        return false;
    } else if (!entry.optional || ((entry.os || entry.cpu) && !entry.libc && !misfit(entry))) {
      return false;
    }
  }
  return true;
}

/**
 * @param {string} text
 * @returns {Lock}
 */
function parse(text) {
  try {
    const { packages } = JSON.parse(text);
    return { packages: packages ?? {} };
  } catch {
    return { packages: {} };
  }
}

/** @param {string} path */
function readText(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
