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

/** Whether each of these programs runs with `args`, with which it ends at once and succeeds. */
export const runs = (args: readonly string[], ...programs: readonly string[]) =>
  programs.every((program) => spawnSync(program, args, { stdio: 'ignore' }).status === 0);

/**
 * Returns why something is missing, for {@link skipReason}; undefined if `isThere`. `packages`: the names of Debian's packages that
 * have it, separated by spaces, which are in the lists of packages.ts.
 */
export function missingPackage(packages: string, isThere: () => boolean): string | undefined {
  return isThere() ? undefined : `${packages}: needed here: sudo apt-get install ${packages}`;
}
