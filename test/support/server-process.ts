/** The real server as a process on loopback, with a data folder of the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { targets } from '#scripts/targets.mjs';
import { environment } from './environment.ts';
import { noteOutput } from './failure-notes.ts';
import { freePort } from './free-port.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface StartOptions {
  /** The folder of the database, which stays for the next start. */
  readonly folder: string;
  /** As at an earlier start; another one by default. */
  readonly port?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** A command that runs the server, as in `['strace', '-f']`. */
  readonly under?: readonly string[];
  /** Gets the output on file descriptor 3. */
  readonly onTrace?: (text: string) => void;
  /** The status of /readyz after the start, 200 by default; null skips the check. */
  readonly status?: number | null;
}

/** A generous limit for a slow machine. Tests have tighter limits of their own. */
const patienceMs = 120_000;

const running = new Map<ChildProcess, Promise<Exit>>();

/** Ends servers that a failed test left running. */
export async function endServers(): Promise<void> {
  for (const child of running.keys()) child.kill('SIGTERM');
  await Promise.all(running.values());
}

export class ServerProcess {
  readonly url: string;
  /** From the start of the process to its first 200 on /readyz. */
  readonly readyMs: number;
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  readonly #output: Output;

  private constructor(child: ChildProcess, output: Output, url: string, readyMs: number) {
    this.#child = child;
    this.#output = output;
    this.url = url;
    this.readyMs = readyMs;
    this.exited = output.exited;
  }

  /** Resolves once the server is ready. @throws Error with its output when it ends, or after the time limit. */
  static async start({ folder, port, env, under = [], ...rest }: StartOptions): Promise<ServerProcess> {
    const settings = environment(folder, { BELFRY_PORT: String(port || (await freePort())), ...env });
    const built = serverArguments();
    // A defect changes a source file, so the server runs from sources.
    const args = env?.TORTURE_DEFECT
      ? built.map((arg) => arg.replace('dist/server/main.js', 'src/main.ts'))
      : built;
    const command = [...under, process.execPath, ...args];
    return ServerProcess.run(command, settings, rest);
  }

  /** Any command that ends up as a server, as `npm start` does. */
  static async run(
    command: readonly string[],
    env: NodeJS.ProcessEnv,
    { onTrace, status = 200 }: Pick<StartOptions, 'onTrace' | 'status'> = {},
  ): Promise<ServerProcess> {
    const began = performance.now();
    const child = spawn(command[0] as string, command.slice(1), {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'pipe', onTrace ? 'pipe' : 'ignore'],
    });
    child.stdio[3]?.on('data', (chunk: Buffer) => onTrace?.(chunk.toString('latin1')));
    const output = new Output(child);
    const url = await output.match(/http:\/\/(?:127\.0\.0\.1|localhost):\d+/);
    if (status !== null) {
      const ready = await fetch(`${url}/readyz`);
      if (ready.status !== status)
        throw new Error(`/readyz answers ${ready.status} at the start\n${output.text}`);
    }
    return new ServerProcess(child, output, url, performance.now() - began);
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** Its output so far. */
  get output(): string {
    return this.#output.text;
  }

  /** Resolves with the first match in the output; rejects when the server ends without one. */
  printed(pattern: RegExp): Promise<string> {
    return this.#output.match(pattern);
  }

  /** Sends a signal and waits for the end. */
  async end(signal: NodeJS.Signals): Promise<Exit> {
    this.#child.kill(signal);
    return this.exited;
  }
}

/** The arguments of Node with which `npm start` runs the server. */
function serverArguments(): string[] {
  return targets.start?.([]).at(-1)?.argv ?? [];
}

/** Runs an administration command on the data of a folder; returns its stdout. @throws Error when it fails. */
export async function belfry(folder: string, ...args: string[]): Promise<string> {
  const [command = []] = targets.belfry?.(args).map(({ argv }) => argv) ?? [];
  const child = spawn(process.execPath, command, {
    cwd: root,
    env: environment(folder),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = new Output(child);
  const { code } = await output.exited;
  if (code !== 0) throw new Error(`belfry ${args.join(' ')} ended with ${code}\n${output.text}`);
  return output.stdout.trim();
}

/** The output of a child process, and its end. */
export class Output {
  /** stdout and stderr in order of arrival. */
  text = '';
  stdout = '';
  readonly exited: Promise<Exit>;
  readonly #looks = new Set<() => void>();
  #ended = false;

  constructor(child: ChildProcess) {
    const note = noteOutput(`process ${child.pid}`);
    const take = (chunk: Buffer) => {
      this.text += chunk.toString();
      note(chunk.toString());
      for (const look of this.#looks) look();
    };
    child.stdout?.on('data', (chunk: Buffer) => {
      this.stdout += chunk.toString();
      take(chunk);
    });
    child.stderr?.on('data', take);
    this.exited = new Promise((resolve) => {
      const ended = (exit: Exit) => {
        this.#ended = true;
        running.delete(child);
        for (const look of this.#looks) look();
        resolve(exit);
      };
      child.once('error', (error) => {
        this.text += `${error.message}\n`;
        ended({ code: 127, signal: null });
      });
      child.once('close', (code, signal) => ended({ code, signal }));
    });
    running.set(child, this.exited);
  }

  match(pattern: RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const fail = (why: string) => {
        done();
        reject(new Error(`${why} instead of printing ${pattern}\n${this.text}`));
      };
      const look = () => {
        const found = pattern.exec(this.text)?.[0];
        if (found !== undefined) {
          done();
          resolve(found);
        } else if (this.#ended) {
          fail('the process ended');
        }
      };
      const timer = setTimeout(() => fail(`the process went on for ${patienceMs} ms`), patienceMs);
      const done = () => {
        clearTimeout(timer);
        this.#looks.delete(look);
      };
      this.#looks.add(look);
      look();
    });
  }
}
