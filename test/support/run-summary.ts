/** The end of a run's output: its slowest files, its failures, its flaky files, and the closing line. */
import type { FileResult, Results } from './test-results.ts';

const slowestShown = 10;
/** If more files fail, none runs again: that is no accident. */
export const mostFlaky = 3;

/** A file that failed, and how it ran again, alone; absent when it did not run again. */
export interface Retried {
  readonly first: FileResult;
  readonly second?: FileResult | undefined;
}

export interface Summary {
  /** For stdout; ends with `N passed, N failed[, N skipped]`. */
  readonly text: string;
  /** Why the run is red; undefined when it is green. */
  readonly objection: string | undefined;
}

/**
 * @param results Of the first run.
 * @param retried The files that failed in it.
 * @param options.strict A skipped test is a failure.
 * @param options.isInterrupted Tests were cancelled.
 */
export function summarize(
  { files, otherErrors }: Results,
  retried: readonly Retried[],
  { strict, isInterrupted }: { readonly strict: boolean; readonly isInterrupted: boolean },
): Summary {
  const flaky = retried.filter(({ second }) => second?.failures.length === 0);
  const red = retried.filter((each) => !flaky.includes(each));
  const final = files.map((file) => flaky.find(({ first }) => first === file)?.second ?? file);
  const sum = (count: (file: FileResult) => number) => final.reduce((all, file) => all + count(file), 0);
  const tally = {
    passed: sum(({ passed }) => passed),
    failed: sum(({ failures }) => failures.length) + otherErrors.length,
    skipped: sum(({ skipped }) => skipped),
  };
  const parts = [
    ...(files.length > 1 ? [slowestFiles(files)] : []),
    ...red.flatMap(failedText),
    ...otherErrors.map((text) => `FAILED outside every file\n${text}`),
    ...flaky.flatMap(flakyText),
    ...(flaky.length > 0 ? [flakyList(flaky)] : []),
  ];
  const { passed, failed, skipped } = tally;
  const closing = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  return {
    text: `${parts.map((part) => `${part}\n\n`).join('')}${closing}\n`,
    objection: objectionTo(tally, { strict, isInterrupted }),
  };
}

function objectionTo(
  { passed, failed, skipped }: { passed: number; failed: number; skipped: number },
  { strict, isInterrupted }: { strict: boolean; isInterrupted: boolean },
): string | undefined {
  if (isInterrupted) return 'The run was interrupted.';
  if (passed + failed === 0) return 'No test ran: that is a failure.';
  if (failed > 0) return 'Some tests failed.';
  return strict && skipped > 0 ? 'With CI set, a skipped test or todo is a failure.' : undefined;
}

function slowestFiles(results: readonly FileResult[]): string {
  const files = results.toSorted((a, b) => b.seconds - a.seconds);
  const all = files.reduce((sum, { seconds }) => sum + seconds, 0);
  return [
    `Slowest of ${files.length} files, which took ${all.toFixed(0)} s one by one:`,
    ...files
      .slice(0, slowestShown)
      .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${name}`),
  ].join('\n');
}

function failedText({ first, second }: Retried): string[] {
  const texts = first.failures.map(({ name, text }) => `FAILED ${name}\n${text}`);
  return second
    ? [...texts, ...second.failures.map(({ name, text }) => `FAILED again, alone: ${name}\n${text}`)]
    : texts;
}

function flakyText({ first, second }: Retried): string[] {
  const texts = first.failures.map(({ name, text }) => `FAILED at first: ${name}\n${text}`);
  const again = `PASSED alone, in ${second?.seconds.toFixed(1)} s: ${first.name}\n${second?.output ?? ''}`;
  return [...texts, again.trimEnd()];
}

function flakyList(flaky: readonly Retried[]): string {
  const names = flaky.flatMap(({ first }) => first.failures.map(({ name }) => `flaky: ${name}`));
  return [...names, 'Add each flaky test to test/flaky.md, and find the cause.'].join('\n');
}
