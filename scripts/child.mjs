/** Becoming another process, or running one: signals passed on once, its ending passed back. */
import { spawn } from 'node:child_process';
import { onParentGone } from './parent-gone.mjs';
import { SetupError } from './setup-error.mjs';

/** @typedef {{ code: number, signal: NodeJS.Signals | null }} Ending */

const FORWARDED = /** @type {NodeJS.Signals[]} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * One Ctrl-C reaches this process twice, from the terminal and from npm; a second one that comes later is
 * a person who has lost patience, and is passed on.
 */
const SAME_SIGNAL_WITHIN_MS = 1000;

/** Preloaded into what a process becomes under npm. */
const WATCH_NPM = new URL('./watch-npm.mjs', import.meta.url).href;

/** This process was told to stop while it was setting up. */
export class Interrupted extends Error {
  /** @param {NodeJS.Signals} signal */
  constructor(signal) {
    super(`stopped by ${signal}`);
    this.signal = signal;
  }
}

/**
 * Ends as `command`: the same process, without a helper that stays in memory behind it. Comes back where Node
 * cannot do that, which are Node before 22.15 and Windows.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv }} options
 */
export function become(command, args, { cwd, env }) {
  if (process.platform === 'win32' || typeof process.execve !== 'function') return;
  process.chdir(cwd);
  const preload = process.env.npm_lifecycle_event ? ['--import', WATCH_NPM] : [];
  process.execve(command, [command, ...preload, ...args], env);
}

/**
 * Runs `command` with this process's stdin, stdout and stderr; resolves with how it ended.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv }} options
 * @returns {Promise<Ending>}
 */
export async function run(command, args, options) {
  const child = spawn(command, args, { ...options, stdio: 'inherit' });
  const { code, signal } = await ended(child);
  return { code, signal };
}

/**
 * Runs `command` without a terminal and resolves with its exit code and all that it printed.
 * Throws `Interrupted` when this process was told to stop meanwhile, after the child has ended.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, shell?: boolean, onStart?: (pid: number) => void }} options
 */
export async function runQuietly(command, args, { onStart, ...options }) {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  if (child.pid !== undefined) onStart?.(child.pid);
  let output = '';
  const collect = (/** @type {Buffer} */ chunk) => {
    output += chunk.toString();
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const { code, signal, interruptedBy } = await ended(child);
  if (interruptedBy) throw new Interrupted(interruptedBy);
  return { code: signal ? 1 : code, output };
}

/**
 * Ends this process by `signal`, so that the caller sees the same ending as the target's.
 * @param {NodeJS.Signals} signal
 */
export function die(signal) {
  process.exitCode = 1;
  process.kill(process.pid, signal);
  // A signal is delivered a moment later, and the exit code must not win the race.
  setTimeout(() => {}, 1000);
}

/**
 * Ends this process as what stopped its work wants it: by the same signal, or with the problem and the way out on stderr.
 * @param {unknown} error
 */
export function endWith(error) {
  if (error instanceof Interrupted) return die(error.signal);
  if (!(error instanceof SetupError)) throw error;
  process.stderr.write(`belfry: ${error.message}\nbelfry: ${error.wayOut}\n`);
  process.exitCode = error.exitCode;
}

/**
 * Waits for the end of `child`, meanwhile passing on the signals that this process gets.
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<Ending & { interruptedBy: NodeJS.Signals | null }>}
 */
function ended(child) {
  /** @type {NodeJS.Signals | null} */
  let interruptedBy = null;
  const lastSent = new Map();
  const forward = (/** @type {NodeJS.Signals} */ signal) => {
    interruptedBy ??= signal;
    if (Date.now() - (lastSent.get(signal) ?? 0) < SAME_SIGNAL_WITHIN_MS) return;
    lastSent.set(signal, Date.now());
    child.kill(signal);
  };
  for (const signal of FORWARDED) process.on(signal, forward);
  const watch = process.env.npm_lifecycle_event ? onParentGone(() => forward('SIGTERM')) : undefined;

  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code: code ?? 1, signal, interruptedBy }));
  }).finally(() => {
    clearInterval(watch);
    for (const signal of FORWARDED) process.off(signal, forward);
  });
}
