#!/usr/bin/env node
/** The entry: hands the process to the command line, and ends it with the answer. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const oldestNode = 24;

if (Number.parseInt(process.versions.node, 10) < oldestNode) {
  process.stderr.write(
    `belfry: this is Node ${process.versions.node}, and Belfry needs Node ${oldestNode} or newer: install it from https://nodejs.org/, or use npm start in a checkout, which brings its own\n`,
  );
  process.exit(2);
}

// Loaded only now: an older Node could not even read them.
const [{ run }, { readConfig }, { version }] = await Promise.all([
  import('./cli/run.ts'),
  import('./config.ts'),
  import('./version.ts'),
]);

const { stdin, stdout, stderr, env } = process;
/** Built or not, its sources are there: npm runs the commands. */
const isCheckout = ['..', '../..'].some((up) => existsSync(join(import.meta.dirname, up, 'src/main.ts')));
// A closed pipe is no error of the command; commands that care listen themselves.
for (const stream of [stdout, stderr]) stream.on('error', () => undefined);

const code = await run(process.argv.slice(2), {
  stdin,
  stdout,
  stderr,
  env,
  version,
  program: isCheckout ? 'npm run --silent belfry --' : 'belfry',
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

// What was written last must have left before the process ends, and no idle thread or socket is to hold it up.
await Promise.all(
  [stdout, stderr].map((stream) => new Promise<void>((done) => stream.write('', () => done()))),
);
process.exit(code);
