/** Thousands of panels in separate processes. Each is a bare socket that keeps little: its position, and the problems it found. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Recorded } from '#test/support/history-checker.ts';

/** How a connection breaks: reset, closed, or silent, which means that it stays open and nobody reads it. */
export type Breakage = 'reset' | 'end' | 'silence';

export interface ConnectOptions {
  readonly port: number;
  /** Default: this machine, over 16 local addresses. */
  readonly host: string | undefined;
  readonly token: string;
  readonly panels: readonly string[];
}

export interface Reader {
  readonly panel: string;
  /** The head when it first connected. It must receive everything after that. */
  readonly from: number;
  readonly position: number;
  /** The sum of the hashes of all names it received, which does not depend on their order. */
  readonly sum: number;
  readonly connections: number;
  readonly problems: readonly string[];
}

export type ReadersCommand =
  | { readonly kind: 'connect'; readonly options: ConnectOptions }
  /** Breaks each stream this often, at random moments within the time; streams reconnect at once. */
  | { readonly kind: 'break'; readonly times: number; readonly withinMs: number }
  /** Answers with all readers once each has reached a position, or when the time is up. */
  | { readonly kind: 'finish'; readonly to: number; readonly withinMs: number }
  /** Answers once all are connected. */
  | { readonly kind: 'await-connected' };

/** A hash, small enough that the sum of a million is exact. */
export function hashName(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193) >>> 0;
  return hash;
}

export interface ReadersOptions {
  /** The server's address, as the processes see it. */
  readonly host?: string;
  /** The command that runs the processes, as in `['ip', 'netns', 'exec', 'name']`. */
  readonly under?: readonly string[];
}

const processes = 2;

export class Readers {
  readonly #children: readonly ChildProcess[];
  readonly #panels: readonly string[];
  readonly #host: string | undefined;

  constructor(panels: readonly string[], { host, under = [] }: ReadersOptions = {}) {
    this.#panels = panels;
    this.#host = host;
    const node = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=32'];
    const [execPath = process.execPath, ...before] = under;
    const execArgv = under.length > 0 ? [...before, process.execPath, ...node] : node;
    this.#children = Array.from({ length: Math.min(processes, panels.length) }, () =>
      fork(fileURLToPath(new URL('./readers-process.ts', import.meta.url)), { execPath, execArgv }),
    );
  }

  /** Resolves when every stream has received `ready`. */
  async connect(port: number, token: string): Promise<void> {
    const each = Math.ceil(this.#panels.length / this.#children.length);
    await Promise.all(
      this.#children.map((child, i) =>
        request(child, {
          kind: 'connect',
          options: { port, host: this.#host, token, panels: this.#panels.slice(i * each, (i + 1) * each) },
        }),
      ),
    );
  }

  async breakOff(times: number, withinMs: number): Promise<void> {
    await Promise.all(this.#children.map((child) => request(child, { kind: 'break', times, withinMs })));
  }

  /** Resolves when every stream is connected. */
  async connected(): Promise<void> {
    await Promise.all(this.#children.map((child) => request(child, { kind: 'await-connected' })));
  }

  async finish(to: number, withinMs: number): Promise<Reader[]> {
    const answers = await Promise.all(
      this.#children.map((child) => request(child, { kind: 'finish', to, withinMs })),
    );
    return answers.flat() as Reader[];
  }

  close(): void {
    for (const child of this.#children) child.disconnect();
  }
}

function request(child: ChildProcess, message: ReadersCommand): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`readers ended with ${code}`));
    child.once('exit', ended);
    child.once('message', (answer) => {
      child.removeListener('exit', ended);
      resolve(answer);
    });
    child.send(message);
  });
}

/** The problems of readers, one line each. Every reader must have received each entry after its first head once, in order. */
export function checkReaders(readers: readonly Reader[], history: readonly Recorded[]): string[] {
  const log = history.toSorted((a, b) => a.position - b.position);
  const sums = [0];
  for (const { name } of log) sums.push((sums.at(-1) as number) + hashName(name ?? ''));
  const head = log.length;
  return readers.flatMap(({ panel, from, position, sum, problems }) => {
    if (problems.length > 0) return problems.map((problem) => `${panel}: ${problem}`);
    if (position !== head) return [`${panel} stands at ${position}, and the head is ${head}`];
    const expected = (sums[head] as number) - (sums[from] as number);
    return sum === expected ? [] : [`${panel} was sent other names than history has after ${from}`];
  });
}
