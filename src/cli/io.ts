import type { Config } from '#server/app.ts';

/** The parts of the process that the command line uses. */
export interface Io {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How to call this program in a shell: `belfry`, or through npm in a checkout. */
  readonly program: string;
  readonly version: string;
  /** The version with the commit, if that is known: as in `0.9.0 (1a2b3c4d5e6f)`. */
  readonly build: string;
  /** Whether the process does nothing else: then a command may lower its priority. */
  readonly isWholeProcess: boolean;
  /** The settings of the environment. @throws ConfigError with all problems. */
  config(): Config;
  /** Calls back on a signal that would end the process, and keeps it running. Returns a function that stops this. */
  onSignal(callback: (signal: NodeJS.Signals) => void): () => void;
  /** Calls back before the process ends, also by an unexpected error. Returns a function that stops this. */
  onEnd(callback: () => void): () => void;
  /** Ends the process at once; a normal exit would wait for a thread that hangs. */
  kill(): void;
}
