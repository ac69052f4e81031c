/** Calls into a worker thread, and the other end of them. */
import { type MessagePort, parentPort, Worker } from 'node:worker_threads';
import type { ErrorCode } from '../../contract/errors.ts';
import { AppError } from '../../core/errors.ts';
import { giveBackIdleMemory } from '../idle-memory.ts';

interface Request {
  readonly id: number;
  readonly op: string;
  readonly args: unknown;
}

interface Failure {
  readonly code: ErrorCode | undefined;
  readonly message: string;
  readonly retryAfterSeconds: number | undefined;
  readonly stack: string | undefined;
}

type Reply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: Failure };
interface Notice {
  readonly notice: unknown;
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** A worker thread that answers calls, in the order they were made. */
export class Thread {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #ended: Error | undefined;

  /** `onNotice` hears what the thread says unasked; `onEnd` that it died without being asked to. */
  constructor(
    script: URL,
    data: unknown,
    options: { onNotice?: (notice: unknown) => void; onEnd?: (error: Error) => void } = {},
  ) {
    this.#worker = new Worker(script, { workerData: data, resourceLimits: { maxYoungGenerationSizeMb: 12 } });
    this.#worker.unref();
    this.#worker.on('message', (message: Reply | Notice) => {
      if ('notice' in message) options.onNotice?.(message.notice);
      else this.#settle(message);
    });
    const end = (error: Error) => {
      if (this.#ended) return;
      this.#ended = error;
      for (const { reject } of this.#pending.values()) reject(error);
      this.#pending.clear();
      options.onEnd?.(error);
    };
    this.#worker.on('error', end);
    this.#worker.on('exit', (code) => end(new Error(`a storage thread ended with code ${code}`)));
  }

  call<T>(op: string, args: unknown): Promise<T> {
    if (this.#ended) return Promise.reject(this.#ended);
    const id = this.#nextId++;
    return new Promise<T>((resolve, reject) => {
      // A call under way keeps the process alive; an idle thread does not.
      if (this.#pending.size === 0) this.#worker.ref();
      this.#pending.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.#worker.postMessage({ id, op, args } satisfies Request);
    });
  }

  /** Lets calls under way finish, then ends the thread. */
  async close(): Promise<void> {
    if (this.#ended) return;
    await this.call('close', undefined).catch(() => undefined);
    this.#ended = new Error('storage is closed');
    await this.#worker.terminate();
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

export type Handlers = Readonly<Record<string, (args: never) => unknown>>;

/** The thread's end: answers calls by name until `close`. */
export function serveThread(handlers: Handlers, close: () => void): { notify(notice: unknown): void } {
  const port = parentPort as MessagePort;
  giveBackIdleMemory();
  port.on('message', ({ id, op, args }: Request) => {
    try {
      if (op === 'close') {
        close();
        port.postMessage({ id, value: undefined } satisfies Reply);
        return;
      }
      const handler = handlers[op] as ((args: unknown) => unknown) | undefined;
      if (!handler) throw new Error(`no such call: ${op}`);
      port.postMessage({ id, value: handler(args) } satisfies Reply);
    } catch (error) {
      port.postMessage({ id, failure: toFailure(error) } satisfies Reply);
    }
  });
  return { notify: (notice) => port.postMessage({ notice } satisfies Notice) };
}

function toFailure(error: unknown): Failure {
  if (error instanceof AppError) {
    return {
      code: error.code,
      message: error.message,
      retryAfterSeconds: error.retryAfterSeconds,
      stack: undefined,
    };
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return { code: undefined, message, retryAfterSeconds: undefined, stack };
}

function toError(failure: Failure): Error {
  if (failure.code) {
    const { retryAfterSeconds } = failure;
    return new AppError(
      failure.code,
      failure.message,
      retryAfterSeconds === undefined ? {} : { retryAfterSeconds },
    );
  }
  const error = new Error(failure.message);
  if (failure.stack) error.stack = failure.stack;
  return error;
}
