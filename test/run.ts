/**
 * `npm test`: runs the tests, and then each file that failed once more, alone. Takes the arguments of `vitest run`. A run of
 * named files or tests does not repeat any. Exits with 0 if every test passed in its last try and at most three files needed
 * a second one.
 */
import { createVitest, parseCLI, type TestRunResult, TestsNotFoundError } from 'vitest/node';
import { installPackages, testPackages, torturePackages } from './support/packages.ts';
import { mostFlaky, type Retried, summarize } from './support/run-summary.ts';
import { type FileResult, type Results, resultsOf } from './support/test-results.ts';
import { full } from './torture/counts.ts';

const { filter, options } = parseCLI(['vitest', 'run', ...process.argv.slice(2)]);
const isWhole = filter.length === 0 && options.testNamePattern === undefined;
if (isWhole && options.project === undefined && options.root === undefined) installPackages(testPackages);
if (full) installPackages([...testPackages, ...torturePackages]);

const vitest = await createVitest(options);
let isInterrupted = false;
vitest.onCancel(() => {
  isInterrupted = true;
});

const results = resultsOf(await runAll());
const failed = results.files.filter(({ failures }) => failures.length > 0);
const retried = await retry(results, failed);
const strict = Boolean(process.env.CI) && process.env.CI !== 'false';
const { text, objection } = summarize(results, retried, { strict, isInterrupted });
// Vitest may print until the process ends.
process.once('exit', () => {
  // Vitest has set it, if a first try failed.
  process.exitCode = objection === undefined ? 0 : process.exitCode || 1;
  if (objection !== undefined) process.stderr.write(`${objection}\n`);
  process.stdout.write(text);
});
await vitest.exit();

async function runAll(): Promise<TestRunResult> {
  try {
    return await vitest.start(filter);
  } catch (error) {
    if (!(error instanceof TestsNotFoundError)) throw error;
    return { testModules: [], unhandledErrors: [] };
  }
}

/** Runs files again, one by one, unless a second try cannot make the run green. */
async function retry({ otherErrors }: Results, files: readonly FileResult[]): Promise<readonly Retried[]> {
  const isHopeless = isInterrupted || otherErrors.length > 0 || files.length > mostFlaky;
  if (!isWhole || isHopeless) return files.map((first) => ({ first }));
  vitest.provide('isSecondTry', true);
  const tries: Retried[] = [];
  for (const first of files) {
    const again = resultsOf(await vitest.runTestSpecifications([first.specification]));
    // An error that belongs to no file may come from this one.
    const isAccepted = again.otherErrors.length === 0;
    tries.push({
      first,
      second: isAccepted ? again.files.find(({ name }) => name === first.name) : undefined,
    });
  }
  return tries;
}
