/** Ends a run with one plain line that people and programs can read: `N passed, N failed[, N skipped]`. */
import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node';

interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * Vitest reporter. Prints the closing line as the very last line of stdout, and makes a run fail in which
 * no test ran, or (with `CI` set) in which a test was skipped or left as a todo.
 */
export class ClosingLine implements Reporter {
  onTestRunEnd(
    modules: ReadonlyArray<TestModule>,
    unhandledErrors: ReadonlyArray<unknown>,
    reason: TestRunEndReason,
  ): void {
    const tally = count(modules, unhandledErrors.length);
    // Vitest still prints after its reporters have been told; only the exit event comes after everything.
    process.once('exit', () => {
      const objection = objectionTo(tally, reason, Boolean(process.env.CI) && process.env.CI !== 'false');
      if (objection !== undefined) {
        process.exitCode = process.exitCode || 1;
        process.stderr.write(`${objection}\n`);
      }
      process.stdout.write(`${closingLine(tally)}\n`);
    });
  }
}

/** A module that could not be loaded and an error outside every test count as one failed test each. */
function count(modules: ReadonlyArray<TestModule>, unhandledErrors: number): Tally {
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

function objectionTo(tally: Tally, reason: TestRunEndReason, strict: boolean): string | undefined {
  if (reason === 'interrupted') return 'The run was interrupted.';
  if (tally.passed + tally.failed === 0) return 'No test ran: that is a failure.';
  if (strict && tally.skipped > 0) return 'With CI set, a skipped test or todo is a failure.';
  return tally.failed > 0 ? 'Some tests failed.' : undefined;
}

function closingLine({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
