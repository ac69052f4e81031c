#!/usr/bin/env node
/** The entry point: runs the command line, and exits with its code. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const oldestNode = 24;

if (Number.parseInt(process.versions.node, 10) < oldestNode) {
  process.stderr.write(
    `belfry: this is Node ${process.versions.node}, and Belfry needs Node ${oldestNode} or newer: install it from https://nodejs.org/, or use npm start in a checkout, which brings its own\n`,
  );
  process.exit(2);
}

// Loaded after the check, because an older Node cannot parse them.
const [{ run }, { readConfig }, { build, version }] = await Promise.all([
  import('./cli/run.ts'),
  import('./settings/config.ts'),
  import('./server/version.ts'),
]);

const { stdin, stdout, stderr, env } = process;
const checkout = ['..', '../..']
  .map((up) => join(import.meta.dirname, up))
  .find((folder) => existsSync(join(folder, 'src/main.ts')));
/** In a checkout, people run commands with npm, which runs them in the folder of the checkout. */
const isRunByNpm = checkout === process.cwd() && env.npm_lifecycle_event !== undefined;
// A closed pipe is not an error. Commands that depend on it listen themselves.
let lostOutput: string | undefined;
stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code !== 'EPIPE') lostOutput = code;
});
stderr.on('error', () => undefined);

const code = await run(process.argv.slice(2), {
  stdin,
  stdout,
  stderr,
  env,
  version,
  build,
  isWholeProcess: true,
  program: isRunByNpm ? 'npm run --silent belfry --' : 'belfry',
  config: () => readConfig(env),
  onSignal(callback) {
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    for (const signal of signals) process.on(signal, callback);
    return () => {
      for (const signal of signals) process.off(signal, callback);
    };
  },
  onEnd(callback) {
    process.on('uncaughtExceptionMonitor', callback);
    process.on('exit', callback);
    return () => {
      process.off('uncaughtExceptionMonitor', callback);
      process.off('exit', callback);
    };
  },
  kill: () => process.kill(process.pid, 'SIGKILL'),
});

// Flushes the output, then exits without waiting for idle threads and sockets.
await Promise.all(
  [stdout, stderr].map((stream) => new Promise<void>((done) => stream.write('', () => done()))),
);
if (lostOutput !== undefined) stderr.write(`belfry: the output could not be written (${lostOutput})\n`);
process.exit(lostOutput !== undefined && code === 0 ? 1 : code);
