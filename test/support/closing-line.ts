/** The last line of a run, for people and programs: `N passed, N failed[, N skipped]`. */
import type { TestModule, TestRunEndReason } from 'vitest/node';

interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

/** A module that could not be loaded and an error outside every test count as one failed test each. */
export function count(modules: ReadonlyArray<TestModule>, unhandledErrors: number): Tally {
  const tally = { passed: 0, failed: unhandledErrors, skipped: 0 };
  for (const module of modules) {
    tally.failed += module.errors().length;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed') tally.passed += 1;
      else if (state === 'skipped') tally.skipped += 1;
      else tally.failed += 1;
    }
  }
  return tally;
}

/** Why a run fails even if no test failed. `strict`: a skipped test is a failure. */
export function objectionTo(tally: Tally, reason: TestRunEndReason, strict: boolean): string | undefined {
  if (reason === 'interrupted') return 'The run was interrupted.';
  if (tally.passed + tally.failed === 0) return 'No test ran: that is a failure.';
  if (strict && tally.skipped > 0) return 'With CI set, a skipped test or todo is a failure.';
  return tally.failed > 0 ? 'Some tests failed.' : undefined;
}

export function closingLine({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
