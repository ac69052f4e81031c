/** Sends notifications from a separate process: at a fixed rate, or each one after the previous answer. */
import { fork } from 'node:child_process';

export interface LoadOptions {
  readonly port: number;
  readonly token: string;
  /** The prefix of the notifications' names. */
  readonly name: string;
  /** undefined: each connection sends the next notification after the previous answer. */
  readonly perSecond?: number;
  /** The most connections at a time. A notification that finds none free when it is due is not sent, but counted. */
  readonly connections: number;
  readonly seconds: number;
  readonly level?: string;
}

export interface LoadResult {
  readonly seconds: number;
  /** Answers by status; `0` counts connections that broke before an answer. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly unsent: number;
  /** From sending to the answer, in milliseconds. */
  readonly accepted: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly refused: { readonly p50: number; readonly p99: number; readonly max: number };
  /** Refusals without Retry-After. */
  readonly withoutRetryAfter: number;
  /** The names that were answered with 200, with their ids. */
  readonly acknowledged: readonly (readonly [name: string, id: string])[];
}

/** A message of the process: each second the numbers of answers so far, and at the end the result. */
export type LoadMessage = { readonly soFar: LoadResult['statuses'] } | { readonly result: LoadResult };

/** Runs the load. `onSecond` is called each second with the numbers of answers so far. */
export function runLoad(
  options: LoadOptions,
  onSecond?: (soFar: LoadResult['statuses']) => void,
): Promise<LoadResult> {
  const child = fork(new URL('./http-load-process.ts', import.meta.url), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    serialization: 'advanced',
  });
  return new Promise((resolve, reject) => {
    child.on('message', (message: LoadMessage) => {
      if ('soFar' in message) return onSecond?.(message.soFar);
      resolve(message.result);
      child.disconnect();
    });
    child.once('exit', (code) => reject(new Error(`the load process ended with ${code}`)));
    child.send(options);
  });
}

export const perSecond = (result: LoadResult, status: string) =>
  (result.statuses[status] ?? 0) / result.seconds;
