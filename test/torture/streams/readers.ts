/** Thousands of panels in processes of their own, each a bare socket that remembers little: where it is, and what was wrong. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Recorded } from '#test/support/history-checker.ts';

/** Reset, ended in order, or gone without a word: the connection stays open and nobody reads it. */
export type Breakage = 'reset' | 'end' | 'silence';

export interface ReadersOrder {
  readonly port: number;
  /** By default this machine, from an address of its own for every sixteenth. */
  readonly host: string | undefined;
  readonly token: string;
  readonly panels: readonly string[];
}

export interface Reader {
  readonly panel: string;
  /** The head when it first connected: it must have everything after that. */
  readonly from: number;
  readonly position: number;
  /** Of the names of all it was sent, whatever their order. */
  readonly sum: number;
  readonly connections: number;
  readonly faults: readonly string[];
}

export type ToReaders =
  | { readonly kind: 'connect'; readonly order: ReadersOrder }
  /** Breaks each stream so many times, at random moments of the time given; they come back at once. */
  | { readonly kind: 'break'; readonly times: number; readonly withinMs: number }
  /** Tells of all readers once each has come to a position, or the time is up. */
  | { readonly kind: 'finish'; readonly to: number; readonly withinMs: number }
  /** Tells once all are connected. */
  | { readonly kind: 'whole' };

/** A number for a name, small enough that a million of them add up exactly. */
export function weigh(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193) >>> 0;
  return hash;
}

export interface ReadersOptions {
  /** Where the server is, seen from there. */
  readonly host?: string;
  /** What runs the processes, as in `['ip', 'netns', 'exec', 'name']`. */
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

  /** Resolves when every stream has said `ready`. */
  async connect(port: number, token: string): Promise<void> {
    const each = Math.ceil(this.#panels.length / this.#children.length);
    await Promise.all(
      this.#children.map((child, i) =>
        ask(child, {
          kind: 'connect',
          order: { port, host: this.#host, token, panels: this.#panels.slice(i * each, (i + 1) * each) },
        }),
      ),
    );
  }

  async breakOff(times: number, withinMs: number): Promise<void> {
    await Promise.all(this.#children.map((child) => ask(child, { kind: 'break', times, withinMs })));
  }

  /** Resolves when every stream is connected. */
  async whole(): Promise<void> {
    await Promise.all(this.#children.map((child) => ask(child, { kind: 'whole' })));
  }

  async finish(to: number, withinMs: number): Promise<Reader[]> {
    const answers = await Promise.all(
      this.#children.map((child) => ask(child, { kind: 'finish', to, withinMs })),
    );
    return answers.flat() as Reader[];
  }

  close(): void {
    for (const child of this.#children) child.disconnect();
  }
}

function ask(child: ChildProcess, message: ToReaders): Promise<unknown> {
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

/** What is wrong with readers, one line each: every one of them is to have each entry after its first head once, in order. */
export function judgeReaders(readers: readonly Reader[], history: readonly Recorded[]): string[] {
  const log = history.toSorted((a, b) => a.position - b.position);
  const sums = [0];
  for (const { name } of log) sums.push((sums.at(-1) as number) + weigh(name ?? ''));
  const head = log.length;
  return readers.flatMap(({ panel, from, position, sum, faults }) => {
    if (faults.length > 0) return faults.map((fault) => `${panel}: ${fault}`);
    if (position !== head) return [`${panel} stands at ${position}, and the head is ${head}`];
    const expected = (sums[head] as number) - (sums[from] as number);
    return sum === expected ? [] : [`${panel} was sent other names than history has after ${from}`];
  });
}
