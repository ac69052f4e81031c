import { spawnSync } from 'node:child_process';

/**
 * What a test needs and this machine does not have, for the test to be skipped with: a gap that is told. undefined: nothing.
 *
 * @throws Error in CI, where a gap is a failure.
 */
export function gap(missing: string | undefined): string | undefined {
  if (missing !== undefined && process.env.CI) throw new Error(missing);
  return missing;
}

/**
 * Why a command is not here, for {@link gap}; undefined when it is. Root installs its Debian package.
 * `args` are those with which it ends at once and well.
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
