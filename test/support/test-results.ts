/** What a run of tests found, file by file. */
import type { TestCase, TestModule, TestRunResult, TestSpecification } from 'vitest/node';

/** The results of one file in one project. A file that cannot be loaded, and an error outside every test, count as one failed test each. */
export interface FileResult {
  /** As in test/e2e/x.test.ts; with the project's name if the file runs in several. */
  readonly name: string;
  readonly specification: TestSpecification;
  readonly seconds: number;
  readonly passed: number;
  readonly skipped: number;
  readonly failures: readonly Failure[];
  /** What servers and commands printed; only of a second try. */
  readonly output: string;
}

export interface Failure {
  /** The file and the test. */
  readonly name: string;
  /** The message, and what the servers and commands of the test printed. */
  readonly text: string;
}

export interface Results {
  readonly files: readonly FileResult[];
  /** Errors that belong to no file. */
  readonly otherErrors: readonly string[];
}

/** An error outside every test. Vitest adds the file, unless the file's process ended with it. */
interface OutsideError {
  readonly message?: string;
  readonly cause?: { readonly message?: string };
  readonly VITEST_TEST_PATH?: string;
}

export function resultsOf({ testModules, unhandledErrors }: TestRunResult): Results {
  const outside = unhandledErrors.map((error) => ({
    file: fileOf(error as OutsideError),
    text: textOf(error as OutsideError),
  }));
  const isOfModule = ({ moduleId }: TestModule, file: string | undefined) => file === moduleId;
  return {
    files: testModules.map((module) =>
      fileResult(
        module,
        testModules,
        outside.filter(({ file }) => isOfModule(module, file)).map(({ text }) => text),
      ),
    ),
    otherErrors: outside
      .filter(({ file }) => !testModules.some((module) => isOfModule(module, file)))
      .map(({ text }) => text),
  };
}

function fileResult(module: TestModule, all: readonly TestModule[], outside: readonly string[]): FileResult {
  const { collectDuration, setupDuration, duration } = module.diagnostic();
  const isInSeveral = all.filter(({ moduleId }) => moduleId === module.moduleId).length > 1;
  const name = isInSeveral ? `${module.relativeModuleId} (${module.project.name})` : module.relativeModuleId;
  const tests = [...module.children.allTests()];
  const count = (state: string) => tests.filter((test) => test.result().state === state).length;
  const failures = [
    ...[...module.errors().map(({ message }) => message), ...outside].map((text) => ({ name, text })),
    ...tests
      .filter((test) => !['passed', 'skipped'].includes(test.result().state))
      .map((test) => ({ name: `${name} > ${test.fullName}`, text: failureText(test) })),
  ];
  const hasRun = ['passed', 'failed', 'skipped'].includes(module.state());
  return {
    name,
    specification: module.toTestSpecification(),
    seconds: (collectDuration + setupDuration + duration) / 1_000,
    passed: count('passed'),
    skipped: count('skipped'),
    failures: hasRun || failures.length > 0 ? failures : [{ name, text: 'the file did not run' }],
    output: tests.flatMap((test) => test.meta().notes ?? []).join('\n'),
  };
}

function failureText(test: TestCase): string {
  const { state, errors = [] } = test.result();
  if (state === 'pending') return 'it did not end';
  const messages = errors.map(({ message }) => message.split('\n').slice(0, 20).join('\n'));
  return [...messages, test.meta().notes].filter(Boolean).join('\n');
}

function fileOf({ VITEST_TEST_PATH: path, cause }: OutsideError): string | undefined {
  return path ?? /while running test file (.+)$/.exec(cause?.message ?? '')?.[1];
}

const textOf = ({ message, cause }: OutsideError) => [message, cause?.message].filter(Boolean).join('\n');
