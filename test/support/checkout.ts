/** A temporary checkout for tests of the start scripts: the real scripts with a fake server and a fake npm. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves once stdout and stderr together hold `text`. */
  printed(text: string): Promise<void>;
}

/** Prints its arguments; `serve` drains for a moment after a signal to stop. */
const server = `
const args = process.argv.slice(2);
if (args[0] === 'exit') process.exit(Number(args[1]));
if (args[0] === 'die') process.kill(process.pid, args[1]);
if (args[0] === 'serve') {
  let count = 0;
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.on(signal, () => {
      console.log(signal, ++count);
      if (count === 1) setTimeout(() => process.exit(0), 400);
    });
  }
  setInterval(() => {}, 1000);
  console.log('serving in', process.pid);
} else if (args[0] !== 'die') {
  console.log(JSON.stringify({ args, cwd: process.cwd(), node: process.execPath, path: process.env.PATH }));
}
`;

/** Knows no setting. */
const settings = `
export class ConfigError extends Error {
  problems = ['BELFRY_WRONG is not a setting'];
}
export const readConfig = (env) => {
  if (env.BELFRY_WRONG) throw new ConfigError();
};
`;

/** A fake \`npm ci\`: records that it ran, fails on request, unpacks a fake Node, and goes on while there is a file npm-hold. */
const npm = `
const { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const root = process.env.STAND_IN_ROOT;
appendFileSync(join(root, 'npm.log'), process.argv.slice(2).join(' ') + '\\n');
const fault = join(root, 'npm-fault');
if (existsSync(fault)) {
  console.error(readFileSync(fault, 'utf8'));
  process.exit(1);
}
rmSync('node_modules', { recursive: true, force: true });
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const node = Object.keys(packages).find((path) => path.startsWith('node_modules/node-'));
mkdirSync(node ? join(node, 'bin') : 'node_modules', { recursive: true });
if (node) {
  const binary = join(node, 'bin', 'node');
  writeFileSync(binary, '#!/bin/sh\\nexport FETCHED_NODE=1\\nexec ' + JSON.stringify(process.execPath) + ' "$@"\\n');
  chmodSync(binary, 0o755);
}
writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: {} }));
const end = () => existsSync(join(root, 'npm-hold')) && setTimeout(end, 20);
end();
`;

/** Makes the running Node look old to the start scripts. */
const oldNode = `process.execve = undefined;
Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } });`;

export class Checkout {
  readonly root: string;

  constructor() {
    this.root = join(mkdtempSync(join(tmpdir(), 'belfry-start-')), 'a checkout');
    mkdirSync(join(this.root, 'src'), { recursive: true });
    const original = join(import.meta.dirname, '../..');
    cpSync(join(original, 'scripts'), join(this.root, 'scripts'), { recursive: true });
    const { scripts, imports } = JSON.parse(readFileSync(join(original, 'package.json'), 'utf8'));
    this.write('package.json', JSON.stringify({ name: 'stand-in', type: 'module', scripts, imports }));
    this.write('src/settings/config.ts', settings);
    this.lock('1.0.0');
    this.write('dist/server/main.js', server);
    this.write('npm-cli.cjs', npm);
    this.write('old-node.mjs', oldNode);
  }

  /** Sets the version of the only package in package-lock.json. */
  lock(version: string): void {
    const packages = { '': {}, 'node_modules/a': { version, integrity: `sha512-${version}` } };
    this.write('package-lock.json', JSON.stringify({ lockfileVersion: 3, packages }));
  }

  write(path: string, text: string): void {
    mkdirSync(join(this.root, path, '..'), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  has(path: string): boolean {
    return existsSync(join(this.root, path));
  }

  /** How often npm has run. */
  npmRuns(): number {
    return this.has('npm.log')
      ? readFileSync(join(this.root, 'npm.log'), 'utf8').trim().split('\n').length
      : 0;
  }

  start(args: readonly string[], { old = false, env = {} as NodeJS.ProcessEnv } = {}): Started {
    const preload = old ? ['--import', `./old-node.mjs`] : [];
    return this.spawn(process.execPath, [...preload, 'scripts/run.mjs', ...args], {
      npm_execpath: join(this.root, 'npm-cli.cjs'),
      npm_lifecycle_event: undefined,
      ...env,
    });
  }

  run(args: readonly string[], options: Parameters<Checkout['start']>[1] = {}): Promise<Ended> {
    return this.start(args, options).ended;
  }

  spawn(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Started {
    const child = spawn(command, args, {
      cwd: this.root,
      env: { ...process.env, STAND_IN_ROOT: this.root, NODE_OPTIONS: undefined, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return follow(child);
  }

  remove(): void {
    rmSync(join(this.root, '..'), { recursive: true, force: true });
  }
}

function follow(child: ChildProcess): Started {
  const out = { stdout: '', stderr: '' };
  const waiting: { text: string; resolve: () => void }[] = [];
  const settle = () => {
    for (const { text, resolve } of waiting) if ((out.stdout + out.stderr).includes(text)) resolve();
  };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.on('data', (chunk: Buffer) => {
      out[name] += chunk.toString();
      settle();
    });
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, ...out }));
  });
  const printed = (text: string) =>
    new Promise<void>((resolve, reject) => {
      waiting.push({ text, resolve });
      settle();
      void ended.then(() =>
        reject(new Error(`ended without printing ${JSON.stringify(text)}: ${JSON.stringify(out)}`)),
      );
    });
  return { process: child, ended, printed };
}
