/** RPC with a worker thread: the client, and the server in the thread. */
import { type MessagePort, parentPort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { AppError, unavailable } from '#core/errors.ts';
import { settlesWithin } from '#core/limits/concurrency.ts';
import { giveBackIdleMemory } from './process.ts';

/** What a thread is asked to do. */
export interface Call {
  readonly op: string;
  readonly args: unknown;
  /** Of work; see {@link serveWorker}. */
  readonly weight: number;
}

interface Request extends Call {
  readonly id: number;
}

/** Of an error what crosses between threads: an AppError has a code. */
export interface Failure extends Partial<Pick<AppError, 'code' | 'retryAfterSeconds'>> {
  readonly message: string;
  readonly stack?: string | undefined;
}

type Reply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: Failure };
interface Notice {
  readonly notice: unknown;
}

/** The time reserved for the termination of the thread. */
const terminationMs = 500;

/** Starts a worker thread and calls its handlers. The thread answers calls in order. */
export class WorkerClient {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pick<PromiseWithResolvers<unknown>, 'resolve' | 'reject'>>();
  #nextId = 1;
  #ended: Error | undefined;

  /** `onNotice` gets messages that are not replies; `onEnd` is called if the thread ends by itself. */
  constructor(
    script: URL,
    data: unknown,
    options: { onNotice?: (notice: unknown) => void; onEnd?: (error: Error) => void } = {},
  ) {
    this.#worker = new Worker(script, { workerData: data, resourceLimits: { maxYoungGenerationSizeMb: 12 } });
    this.#worker.unref();
    this.#worker.on('message', (message: readonly Reply[] | Notice) => {
      if ('notice' in message) options.onNotice?.(message.notice);
      else for (const reply of message) this.#settle(reply);
    });
    const end = (error: Error) => {
      if (this.#ended) return;
      this.#end(unavailable('a storage thread ended before it answered', error));
      options.onEnd?.(error);
    };
    this.#worker.on('error', end);
    this.#worker.on('exit', (code) => end(new Error(`a storage thread ended with code ${code}`)));
  }

  call(op: string, args: unknown, weight = 1): Promise<unknown> {
    if (this.#ended) return Promise.reject(this.#ended);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      // A pending call keeps the process alive; an idle thread does not.
      if (this.#pending.size === 0) this.#worker.ref();
      this.#pending.set(id, { resolve, reject });
      this.#worker.postMessage({ id, op, args, weight } satisfies Request);
    });
  }

  /**
   * Waits for pending calls, then ends the thread; takes at most `withinMs`. Returns whether the thread has ended: a thread that
   * hangs inside SQLite or the system cannot be ended, and `process.exit` would wait for it.
   */
  async close(withinMs: number): Promise<boolean> {
    const began = performance.now();
    const closed = this.#ended ?? this.call('close', undefined).catch(() => undefined);
    await settlesWithin(Promise.resolve(closed), withinMs - terminationMs);
    this.#end(unavailable('storage is closed'));
    // On a busy machine a thread that hangs nowhere ends late, too.
    const leftMs = withinMs - (performance.now() - began);
    return settlesWithin(this.#worker.terminate(), Math.max(terminationMs, leftMs));
  }

  #end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }

  #settle(reply: Reply): void {
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (this.#pending.size === 0) this.#worker.unref();
    if (!pending) return;
    if ('failure' in reply) pending.reject(toError(reply.failure));
    else pending.resolve(reply.value);
  }
}

/** Functions that run in a thread, on what is open there. */
export type Remote<T> = {
  readonly [K in keyof T]: T[K] extends (session: never, ...args: infer A) => infer R
    ? (...args: A) => Promise<Awaited<R>>
    : never;
};

/** `thread` is asked for with each call, so that it may be started by the first, and replaced. */
export function remote<T>(thread: () => WorkerClient): Remote<T> {
  const methodOf =
    (_: object, op: string) =>
    (...args: unknown[]) =>
      thread().call(op, args);
  return new Proxy({}, { get: methodOf }) as Remote<T>;
}

/**
 * Runs in the thread: answers calls until `close`. Calls that wait are handled together, until their weight reaches `maxWeight`;
 * `handle` returns their results in order, and an error fails all of them. It may await what is there already, but no I/O and
 * no timer: no other call is handled meanwhile. `afterwards` runs when answers have been sent, before more calls are taken.
 */
export function serveWorker(
  handle: (calls: readonly Call[]) => readonly unknown[] | Promise<readonly unknown[]>,
  close: () => void,
  { maxWeight = 1, afterwards }: { readonly maxWeight?: number; readonly afterwards?: () => void } = {},
): { notify(notice: unknown): void } {
  const port = parentPort as MessagePort;
  giveBackIdleMemory();
  const received = () => (receiveMessageOnPort(port) as { message: Request } | undefined)?.message;
  const answer = async (requests: readonly Request[], results: typeof handle) => {
    try {
      const values = await results(requests);
      port.postMessage(requests.map(({ id }, i): Reply => ({ id, value: values[i] })));
    } catch (error) {
      const failure = toFailure(error);
      port.postMessage(requests.map(({ id }): Reply => ({ id, failure })));
    }
  };
  port.on('message', (first: Request) => {
    const requests: Request[] = [];
    let next: Request | undefined = first;
    for (let weight = 0; next && next.op !== 'close'; next = weight < maxWeight ? received() : undefined) {
      requests.push(next);
      weight += next.weight;
    }
    if (requests.length > 0) void answer(requests, handle).then(afterwards);
    if (next) void answer([next], () => [close()]);
  });
  return { notify: (notice) => port.postMessage({ notice } satisfies Notice) };
}

export function toFailure(error: unknown): Failure {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  if (!(error instanceof AppError)) return { message, stack };
  const { code, retryAfterSeconds } = error;
  return { message, code, retryAfterSeconds };
}

export function toError({ message, stack, code, retryAfterSeconds }: Failure): Error {
  if (code === undefined) return Object.assign(new Error(message), { stack });
  return new AppError(code, message, { retryAfterSeconds });
}
