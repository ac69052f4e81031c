/** A volley of notifications from a process of its own: at a rate that waits for nobody, or as fast as it is answered. */
import { fork } from 'node:child_process';

export interface Volley {
  readonly port: number;
  readonly token: string;
  /** What sets this volley's names apart. */
  readonly name: string;
  /** undefined: each connection sends the next as soon as it is answered. */
  readonly perSecond?: number;
  /** The most connections at a time; what finds none free when it is due is not sent, and counted. */
  readonly connections: number;
  readonly seconds: number;
  readonly level?: string;
}

export interface Struck {
  readonly seconds: number;
  /** Answers by status; `0` are connections that broke before one came. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly unsent: number;
  /** From sending to the answer, in milliseconds. */
  readonly accepted: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly refused: { readonly p50: number; readonly p99: number; readonly max: number };
  /** Refusals without Retry-After. */
  readonly unadvised: number;
  /** Names that were answered with 200, and their ids. */
  readonly acknowledged: readonly (readonly [name: string, id: string])[];
}

/** What a volley's process says: each second how many answers there were, and in the end what came of it. */
export type Said = { readonly soFar: Struck['statuses'] } | { readonly struck: Struck };

/** Fires it and answers what came of it. `onSecond` hears each second how many answers there were so far. */
export function fire(volley: Volley, onSecond?: (soFar: Struck['statuses']) => void): Promise<Struck> {
  const child = fork(new URL('./volley-process.ts', import.meta.url), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    serialization: 'advanced',
  });
  return new Promise((resolve, reject) => {
    child.on('message', (said: Said) => {
      if ('soFar' in said) return onSecond?.(said.soFar);
      resolve(said.struck);
      child.disconnect();
    });
    child.once('exit', (code) => reject(new Error(`a volley ended with ${code}`)));
    child.send(volley);
  });
}

export const perSecond = (struck: Struck, status: string) => (struck.statuses[status] ?? 0) / struck.seconds;
