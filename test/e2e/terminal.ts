/** A person's terminal in the checkout: bash, the machine's own PATH, nothing of the test run that it is part of. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Exit, Output, root } from '../support/server-process.ts';

/** What npm and vitest add to the environment would hide what the bootstrap has to do. */
const ofTheRun =
  /^(npm_(?!config_)|npm_config_local_prefix$|BELFRY_|VITEST|NODE_ENV$|NODE_OPTIONS$|INIT_CWD$|TEST$|PROD$|DEV$|MODE$|SSR$)/;

export function machineEnvironment(own: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !ofTheRun.test(name));
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !ofTheCheckout(folder));
  return { ...Object.fromEntries(inherited), PATH: path.join(delimiter), ...own };
}

const ofTheCheckout = (folder: string) => folder.startsWith(root) || folder.includes('node_modules');

/** The shell blocks of a chapter of the README, as they would be copied. */
export function readmeBlocks(heading: string): string[] {
  const text = readFileSync(join(root, 'README.md'), 'utf8');
  const chapter = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  return [...chapter.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
}

/** Runs what was pasted. The commands have a process group of their own, as a terminal gives them. */
export class Terminal {
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  readonly #output: Output;

  constructor(pasted: string, env: NodeJS.ProcessEnv) {
    this.#child = spawn('bash', ['-c', pasted], {
      cwd: root,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#output = new Output(this.#child);
    this.exited = this.#output.exited;
  }

  /** Runs to the end. @throws Error with all it printed when that is a failure. */
  static async run(pasted: string, env: NodeJS.ProcessEnv): Promise<string> {
    const terminal = new Terminal(pasted, env);
    const { code } = await terminal.exited;
    if (code !== 0) throw new Error(`this ended with ${code}:\n${pasted}\n${terminal.#output.text}`);
    return terminal.#output.stdout;
  }

  printed(pattern: RegExp): Promise<string> {
    return this.#output.match(pattern);
  }

  /** Closes the window: everything that runs in it is told. */
  async close(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.pid !== undefined)
      process.kill(-this.#child.pid, 'SIGTERM');
    await this.exited;
  }
}
