import type { Config } from '#app.ts';

/** Everything the command line has of its process. */
export interface Io {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How this program is called here, as it can be pasted into a shell: `belfry`, or npm's way in a checkout. */
  readonly program: string;
  readonly version: string;
  /** The settings of the environment. @throws ConfigError with all problems. */
  config(): Config;
  /** Calls back on a signal that would end the process, which it then does not; answers how to stop that. */
  onSignal(callback: () => void): () => void;
  /** Calls back before the process dies of an unexpected error, or ends; answers how to stop that. */
  onEnd(callback: () => void): () => void;
  /** Ends the process at once, whatever its threads do: an exit would wait for one that hangs. */
  kill(): void;
}
