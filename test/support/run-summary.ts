/** The end of a run's output: its slowest files, its failures in short, and the closing line. */
import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node';
import { closingLine, count, objectionTo } from './closing-line.ts';

const slowestShown = 10;

/**
 * Vitest reporter. Prints `N passed, N failed[, N skipped]` as the very last line of stdout, and makes a run fail in which
 * no test ran, or (with `CI` set) in which a test was skipped or left as a todo.
 */
export class RunSummary implements Reporter {
  onTestRunEnd(
    modules: ReadonlyArray<TestModule>,
    unhandledErrors: ReadonlyArray<unknown>,
    reason: TestRunEndReason,
  ): void {
    const tally = count(modules, unhandledErrors.length);
    // Vitest still prints after its reporters ran; only the exit event comes last.
    process.once('exit', () => {
      const objection = objectionTo(tally, reason, Boolean(process.env.CI) && process.env.CI !== 'false');
      if (modules.length > 1) process.stdout.write(`${slowestFiles(modules)}\n\n`);
      process.stdout.write(failures(modules));
      if (objection !== undefined) {
        process.exitCode = process.exitCode || 1;
        process.stderr.write(`${objection}\n`);
      }
      process.stdout.write(`${closingLine(tally)}\n`);
    });
  }
}

function slowestFiles(modules: readonly TestModule[]): string {
  const files = modules
    .map((module) => {
      const { collectDuration, setupDuration, duration } = module.diagnostic();
      return { name: module.relativeModuleId, seconds: (collectDuration + setupDuration + duration) / 1_000 };
    })
    .sort((a, b) => b.seconds - a.seconds);
  const all = files.reduce((sum, { seconds }) => sum + seconds, 0);
  return [
    `Slowest of ${files.length} files, which took ${all.toFixed(0)} s one by one:`,
    ...files
      .slice(0, slowestShown)
      .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${name}`),
  ].join('\n');
}

/** Each failed test with its place, its message, and the output of its servers and commands. */
function failures(modules: readonly TestModule[]): string {
  return modules
    .flatMap((module) => [...module.children.allTests('failed')])
    .map((test) => {
      const { errors = [] } = test.result();
      const { notes = '' } = test.meta();
      const messages = errors.map(({ message }) => message.split('\n').slice(0, 20).join('\n'));
      const place = `${test.module.relativeModuleId}${test.location ? `:${test.location.line}` : ''}`;
      return `FAILED ${place} > ${test.fullName}\n${[...messages, notes].filter(Boolean).join('\n')}\n\n`;
    })
    .join('');
}
