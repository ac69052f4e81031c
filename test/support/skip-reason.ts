import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The reason to skip a test that needs something this machine does not have; undefined if nothing is missing.
 *
 * @throws Error in CI, where a missing requirement is a failure.
 */
export function skipReason(missing: string | undefined): string | undefined {
  if (missing !== undefined && process.env.CI) throw new Error(missing);
  return missing;
}

/** Whether each of these programs runs with `args`, with which it ends at once and succeeds. */
export const runs = (args: readonly string[], ...programs: readonly string[]) =>
  programs.every((program) => spawnSync(program, args, { stdio: 'ignore' }).status === 0);

/**
 * Returns why something is missing, for {@link skipReason}; undefined if `isThere`. Root installs Debian's packages, with their
 * names separated by spaces.
 */
export function missingPackage(packages: string, isThere: () => boolean): string | undefined {
  if (isThere()) return undefined;
  const needed = `${packages}: needed here`;
  if (process.getuid?.() !== 0) return `${needed}: sudo apt-get install ${packages}`;
  console.error(`installing ${packages} with apt-get`);
  const problem = install(packages.split(' '));
  return isThere() ? undefined : `${needed}, and cannot be installed: ${problem}`;
}

/** A new machine has no list of packages. */
const script = `install() { apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 "$@"; }
install "$@" || { apt-get update -qq && install "$@"; }`;

/** Returns the last line of what apt-get printed. One call at a time: an update may remove what another has just downloaded. */
function install(packages: readonly string[]): string {
  const lock = join(tmpdir(), 'belfry-apt-get.lock');
  const { stdout, stderr, error } = spawnSync('flock', [lock, 'sh', '-c', script, 'sh', ...packages], {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: 600_000,
  });
  return error?.message ?? `${stdout}${stderr}`.trimEnd().split('\n').at(-1) ?? '';
}
