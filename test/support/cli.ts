import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { run } from '#cli/run.ts';
import { version } from '#server/version.ts';
import { noteOutput } from './failure-notes.ts';
import { FakeIo } from './fake-io.ts';
import { storeSettings } from './test-store.ts';

const root = resolve(import.meta.dirname, '../..');

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

/** The command line in a folder of its own, with a database in it. */
export class Cli {
  readonly folder: string;
  readonly database: string;
  readonly #running = new Set<Running>();

  constructor(folder = mkdtempSync(join(tmpdir(), 'belfry-cli-'))) {
    this.folder = folder;
    this.database = join(folder, 'belfry.db');
  }

  /** Runs a command in this process, because starting a process takes a second. */
  async run(args: readonly string[], { env = {}, input = '' }: CliOptions = {}): Promise<CliResult> {
    const program = 'npm run --silent belfry --';
    const io = new FakeIo({ env: { ...this.#environment(), ...env }, program, version });
    io.type(input);
    io.type(null);
    const code = await run(args, io);
    noteOutput(`belfry ${args.join(' ')}`)(io.out + io.err);
    return { code, stdout: io.out, stderr: io.err };
  }

  /** As {@link run}, for a command that must succeed; returns its stdout. */
  async ok(args: readonly string[], options: CliOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, options);
    if (code !== 0) throw new Error(`belfry ${args.join(' ')} ended with ${code}: ${stderr}`);
    return stdout;
  }

  /** A new token (or its secret), as a shell takes it. */
  async token(...options: string[]): Promise<string> {
    return (await this.ok(['token', 'create', '--name', 'test', ...options])).trim();
  }

  /** Starts a command as a process of its own. */
  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
    const running = new Running(args, { ...this.#environment(), ...env });
    this.#running.add(running);
    void running.ended.then(() => this.#running.delete(running));
    return running;
  }

  /** Starts a server on a free port, and waits until it is ready. */
  async serve(env: Readonly<Record<string, string>> = {}): Promise<RunningServer> {
    const running = this.start(['serve'], {
      BELFRY_HOST: '127.0.0.1',
      BELFRY_PORT: '0',
      BELFRY_DRAIN_MS: '1000',
      ...env,
    });
    const [, url] = await running.says(/ready at (http:\/\/\S+)/);
    return { running, url: url as string };
  }

  /** Ends running commands, and removes the folder. */
  async remove(): Promise<void> {
    const all = [...this.#running];
    for (const running of all) running.child.kill('SIGKILL');
    await Promise.all(all.map(({ ended }) => ended));
    rmSync(this.folder, { recursive: true, force: true });
  }

  #environment(): Record<string, string> {
    return {
      PATH: process.env.PATH ?? '',
      HOME: this.folder,
      // As in `npm run belfry`: Node keeps compiled code for the hundreds of runs.
      NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node-compile'),
      ...storeSettings(this.folder),
      BELFRY_MIN_FREE_BYTES: '0',
    };
  }
}

export interface RunningServer {
  readonly running: Running;
  readonly url: string;
}

/** A running command. */
export class Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<CliResult>;
  stdout = '';
  stderr = '';
  readonly #listeners = new Set<() => void>();
  #isClosed = false;

  constructor(args: readonly string[], env: Record<string, string>) {
    this.child = spawn(process.execPath, ['dist/server/main.js', ...args], {
      cwd: root,
      env,
    });
    const note = noteOutput(`process belfry ${args.join(' ')}`);
    for (const name of ['stdout', 'stderr'] as const) {
      this.child[name].setEncoding('utf8').on('data', (text: string) => {
        this[name] += text;
        note(text);
        for (const listener of this.#listeners) listener();
      });
    }
    this.ended = new Promise((done) =>
      this.child.once('close', (code) => {
        this.#isClosed = true;
        done({ code, stdout: this.stdout, stderr: this.stderr });
        for (const listener of this.#listeners) listener();
      }),
    );
  }

  /** Resolves with the match once stdout (or `where`) holds it; rejects when the command ends without, or after `ms`. */
  says(pattern: RegExp, where: 'stdout' | 'stderr' = 'stdout', ms = 120_000): Promise<RegExpExecArray> {
    return new Promise((done, fail) => {
      const finish = (end: () => void) => {
        clearTimeout(timer);
        this.#listeners.delete(look);
        end();
      };
      const complain = () =>
        fail(new Error(`${where} never said ${pattern}\nstdout: ${this.stdout}\nstderr: ${this.stderr}`));
      const look = () => {
        const match = pattern.exec(this[where]);
        if (match) finish(() => done(match));
        else if (this.#isClosed) finish(complain);
      };
      const timer = setTimeout(() => finish(complain), ms);
      this.#listeners.add(look);
      look();
    });
  }
}
