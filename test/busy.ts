/**
 * `npm run test:busy`: runs all tests three times beside two processes that take the processors, and prints each test that failed
 * in any try. Exits with 0 if all runs were green. Arguments are passed on to `npm test`.
 */
import { spawn } from 'node:child_process';
import { root } from './support/server-process.ts';

const rounds = 3;
const busyProcesses = 2;

/** Ends by itself when this process is gone. */
const spin = `while (process.ppid === ${process.pid}) for (let i = 0; i < 1e8; i += 1);`;

interface Round {
  readonly code: number | null;
  readonly minutes: number;
  readonly closingLine: string;
  /** The tests that failed in their first try, or in both. */
  readonly failed: readonly string[];
}

async function runTests(args: readonly string[]): Promise<Round> {
  const began = performance.now();
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'test/run.ts', ...args], {
    cwd: root,
    env: { ...process.env, CI: 'true' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    process.stdout.write(text);
    output += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const names = [...output.matchAll(/^FAILED (?:at first: |again, alone: )?(.+)$/gm)].map(
    ([, name = '']) => name,
  );
  return {
    code,
    minutes: (performance.now() - began) / 60_000,
    closingLine: output.trimEnd().split('\n').at(-1) ?? '',
    failed: [...new Set(names)],
  };
}

const busy = Array.from({ length: busyProcesses }, () =>
  spawn(process.execPath, ['-e', spin], { stdio: 'ignore' }),
);
const results: Round[] = [];
for (let round = 0; round < rounds; round += 1) results.push(await runTests(process.argv.slice(2)));
for (const child of busy) child.kill();

console.log(`\nBeside ${busyProcesses} busy processes:`);
for (const { code, minutes, closingLine } of results)
  console.log(`${code === 0 ? 'green' : 'red'}, ${minutes.toFixed(1)} min: ${closingLine}`);
const everFailed = results.flatMap(({ failed }) => failed);
for (const name of new Set(everFailed))
  console.log(`failed in ${everFailed.filter((each) => each === name).length} of ${rounds}: ${name}`);
if (everFailed.length === 0) console.log('No test failed in any try.');
process.exitCode = results.every(({ code }) => code === 0) ? 0 : 1;
