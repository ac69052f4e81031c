import { spawnSync } from 'node:child_process';

/**
 * The reason to skip a test that needs something this machine does not have; undefined if nothing is missing.
 *
 * @throws Error in CI, where a missing requirement is a failure.
 */
export function skipReason(missing: string | undefined): string | undefined {
  if (missing !== undefined && process.env.CI) throw new Error(missing);
  return missing;
}

/**
 * Returns why a command is missing, for {@link skipReason}; undefined if it works. Root installs its Debian package.
 * With `args` the command ends at once and succeeds.
 */
export function missingPackage(command: string, args: readonly string[], name: string): string | undefined {
  const works = () => spawnSync(command, args, { stdio: 'ignore' }).status === 0;
  if (works()) return undefined;
  if (process.getuid?.() === 0) {
    console.error(`installing ${name} with apt-get`);
    for (const step of [['update'], ['install', '-y', '--no-install-recommends', name]])
      spawnSync('apt-get', step, { stdio: 'ignore', timeout: 300_000 });
    if (works()) return undefined;
  }
  return `${command} is needed here and cannot be installed by this user: sudo apt-get install ${name}`;
}
