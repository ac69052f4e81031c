/** The machine's own npm, run out of sight, and its failures put into words. */
import { runQuietly } from './child.mjs';
import { SetupError } from './setup-error.mjs';

/**
 * A loglevel of our own: `npm run --silent` hands its silence down, and would hide the reason of a failure.
 * Development dependencies always: the checks and the tests run from the same installation.
 */
export const NPM_QUIET = [
  '--include=dev',
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--no-update-notifier',
  '--loglevel=error',
];

/**
 * Runs npm under the given Node: the npm that started us, else the one on the PATH.
 * @param {string} node
 * @param {string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, onStart: (pid: number) => void }} options
 */
export async function npm(node, args, options) {
  const cli = options.env.npm_execpath;
  if (cli && /npm-cli\.c?js$/.test(cli)) return runQuietly(node, [cli, ...args], options);
  const shell = process.platform === 'win32';
  try {
    return await runQuietly('npm', args, { ...options, shell });
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new SetupError('npm was not found on the PATH', 'install npm (it comes with Node), then run again');
  }
}

/**
 * @param {string} what
 * @param {string} output
 * @param {string} otherwise the way out when the output shows none of the known causes
 */
export function explainNpm(what, output, otherwise) {
  return new SetupError(`${what}; npm said:\n${output.trimEnd()}`, wayOut(output) ?? otherwise);
}

/** @param {string} output */
function wayOut(output) {
  if (/ENOSPC/.test(output)) return 'the disk is full: make room, then run the same command again';
  if (/EROFS|EACCES|EPERM/.test(output)) {
    return /_cacache|_logs|cache/i.test(output)
      ? "npm cannot write its cache folder: name one it can write, as in npm_config_cache=/tmp/npm-cache, or repair that folder's owner"
      : 'this user cannot write to the checkout: run as its owner, or make the folder writable';
  }
  if (
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED/.test(output)
  ) {
    return 'the npm registry cannot be reached: the first start needs it once; check the network, the proxy and the registry that `npm config get registry` names';
  }
  return undefined;
}

/** @param {unknown} error */
function isMissing(error) {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
