/**
 * What a test needs and this machine does not have, for the test to be skipped with: a gap that is told. undefined: nothing.
 *
 * @throws Error in CI, where a gap is a failure.
 */
export function gap(missing: string | undefined): string | undefined {
  if (missing !== undefined && process.env.CI) throw new Error(missing);
  return missing;
}
