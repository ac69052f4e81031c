/** One set-up at a time in a checkout, also when several commands start together. */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { SetupError } from './setup-error.mjs';

const POLL_MS = 200;
/**
 * The holder touches its lock ten times as often, so only a holder that is gone or stopped lets it grow old.
 * Its npm may outlive it, and is waited for a while longer.
 */
const STALE_AFTER_MS = 20_000;
const ORPHAN_NPM_MS = 300_000;

/**
 * Runs `work` while no other process of this checkout runs its own; waits for the other with one line on
 * stderr. A lock whose holder has died is taken over. `work` names the process that works for it, which
 * keeps the lock when the holder is killed.
 * @param {string} root
 * @param {(alsoHeldBy: (pid: number) => void) => Promise<void>} work
 */
export async function withLock(root, work) {
  const folder = join(root, '.node');
  const path = join(folder, 'setup.lock');
  let mark = markOf([process.pid]);
  createFolder(folder);
  await acquire(path, mark);
  const heartbeat = setInterval(() => touch(path), STALE_AFTER_MS / 10);
  try {
    await work((pid) => {
      mark = markOf([process.pid, pid]);
      writeFileSync(path, mark);
    });
  } finally {
    clearInterval(heartbeat);
    if (read(path) === mark) rmSync(path, { force: true });
  }
}

/** @param {number[]} pids */
function markOf(pids) {
  return JSON.stringify({ pids, host: hostname(), at: Date.now() });
}

/** @param {string} folder */
function createFolder(folder) {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new SetupError(
      `cannot create ${folder}: ${error instanceof Error ? error.message : error}`,
      'this user cannot write to the checkout: run as its owner, or make the folder writable',
    );
  }
}

/**
 * @param {string} path
 * @param {string} mark
 */
async function acquire(path, mark) {
  let told = false;
  for (;;) {
    try {
      writeFileSync(path, mark, { flag: 'wx' });
      return;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') {
        throw new SetupError(`cannot create ${path}: ${codeOf(error)}`, 'make the checkout writable');
      }
    }
    if (removeStale(path)) continue;
    if (!told) process.stderr.write('belfry: waiting for another command to finish setting up …\n');
    told = true;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/**
 * Renaming is the one step of which only one of several waiters can be the author.
 * @param {string} path
 */
function removeStale(path) {
  const found = read(path);
  if (found === undefined) return true;
  if (!isStale(path, found)) return false;
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return true;
  }
  if (read(aside) === found) rmSync(aside, { force: true });
  else renameSync(aside, path); // another waiter was faster, and this is its fresh lock
  return true;
}

/**
 * @param {string} path
 * @param {string} mark
 */
function isStale(path, mark) {
  const age = ageOf(path);
  const { pids, host } = parseMark(mark);
  if (host !== hostname()) return age > STALE_AFTER_MS;
  const [holder, ...helpers] = pids.map(isAlive);
  if (holder) return age > STALE_AFTER_MS;
  return !helpers.includes(true) || age > ORPHAN_NPM_MS;
}

/** @param {string} path */
function ageOf(path) {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0; // just removed
  }
}

/**
 * A mark that is being written at this moment reads as nobody's.
 * @param {string} mark
 * @returns {{ pids: number[], host: string }}
 */
function parseMark(mark) {
  try {
    return JSON.parse(mark);
  } catch {
    return { pids: [], host: '' };
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}

/** @param {string} path */
function touch(path) {
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // Gone with the whole folder: there is nothing left to guard.
  }
}

/** @param {string} path */
function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
