import { EventEmitter } from 'node:events';
import { Readable, Writable } from 'node:stream';
import type { Io } from '#cli/io.ts';
import { readConfig } from '#settings/config.ts';

export interface FakeIoOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly program?: string;
  readonly version?: string;
  /** Makes stdin and stdout a terminal of this size. */
  readonly terminal?: { columns: number; rows: number };
}

/** A fake process for the command line. */
export class FakeIo implements Io {
  readonly env: Readonly<Record<string, string>>;
  readonly program: string;
  readonly version: string;
  readonly build: string;
  /** A test's process has other tests to run, and its priority cannot be raised again by everybody. */
  readonly isWholeProcess = false;
  readonly stdin: Io['stdin'];
  readonly stdout: Io['stdout'];
  readonly stderr: Io['stderr'];
  kills = 0;
  out = '';
  err = '';
  readonly #events = new EventEmitter();

  constructor({ env = {}, program = 'belfry', version = '1.2.3', terminal }: FakeIoOptions = {}) {
    this.env = env;
    this.program = program;
    this.version = version;
    this.build = version;
    const write = (add: (text: string) => void) =>
      new Writable({
        decodeStrings: false,
        write(chunk, _encoding, done) {
          add(String(chunk));
          done();
        },
      });
    const screen = terminal && { isTTY: true, ...terminal, getColorDepth: () => 24 };
    this.stdout = Object.assign(
      write((text) => (this.out += text)),
      screen,
    ) as Io['stdout'];
    this.stderr = write((text) => (this.err += text)) as Io['stderr'];
    const keyboard = { isTTY: terminal !== undefined, setRawMode: () => this.stdin };
    this.stdin = Object.assign(new Readable({ read: () => undefined }), keyboard) as unknown as Io['stdin'];
  }

  config(): ReturnType<Io['config']> {
    return readConfig(this.env);
  }

  onSignal(callback: Parameters<Io['onSignal']>[0]): () => void {
    this.#events.on('signal', callback);
    return () => this.#events.off('signal', callback);
  }

  onEnd(callback: () => void): () => void {
    this.#events.on('end', callback);
    return () => this.#events.off('end', callback);
  }

  kill(): void {
    this.kills += 1;
  }

  signal(): void {
    this.#events.emit('signal', 'SIGINT');
  }

  /** Types into the terminal; null ends the input. */
  type(keys: string | null): void {
    this.stdin.push(keys);
  }
}
