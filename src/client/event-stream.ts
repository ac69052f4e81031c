/** Server-sent events over as many connections as it takes. */
import { createParser } from 'eventsource-parser';
import { backoffMs } from '#contract/backoff.ts';
import { ApiError, isCode } from './call.ts';
import { pause } from './timing.ts';

/** State of the connection to the server. */
export type Connection =
  | { readonly state: 'connecting' }
  | { readonly state: 'online' }
  /** Not connected: why, and when the next attempt begins. */
  | {
      readonly state: 'waiting';
      readonly reason: string;
      /** Whether there was an answer at all. */
      readonly answered: boolean;
      /** Whether the tenant is suspended. */
      readonly suspended?: true;
      readonly retryInMs: number;
    };

interface StreamEvent {
  readonly type: string;
  readonly data: unknown;
  /** The cursor from which another stream can resume. */
  readonly id?: string | undefined;
}

export interface EventStreamOptions {
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal;
  /** Resume after this id of an earlier stream. */
  readonly lastEventId?: string;
  /** Whether a `lastEventId` that the server cannot read is an error; otherwise the stream begins anew. */
  readonly mustResume?: boolean;
  /** Called on each change of the connection. */
  readonly onConnection?: (connection: Connection) => void;
  /** Wait before the first reconnect if the server sets none. */
  readonly retryMs?: number;
  /** Waits before a reconnect; a page may end the wait early. */
  readonly wait?: typeof pause;
}

/** Requests the stream, from after `lastEventId` if there is one. */
type OpenStream = (lastEventId: string | undefined, signal: AbortSignal) => Promise<Response>;

const connectMs = 15_000;
/** Until `ready` sets the server's own. */
const defaultHeartbeatMs = 15_000;
/** Two heartbeats may be late or lost; the third counts as missed. */
const silentHeartbeats = 2.5;
const retryCapMs = 30_000;
const suspendedRetryMs = 60_000;
/** An event larger than this is not from a Belfry server. */
const maxEventChars = 1024 * 1024;

/** State that survives from one connection to the next. */
interface Memory {
  lastEventId: string | undefined;
  heartbeatMs: number;
  retryMs: number;
  /** Attempts since the stream was last ready. */
  attempts: number;
  /** The time to reconnect that the server sent in `bye` or with an error. */
  retryInMs: number | undefined;
}

/**
 * The events of a stream, for as long as the caller iterates: a connection that ends, breaks or falls silent is opened
 * again and continues after the last event that the caller got.
 *
 * @throws ApiError if Belfry itself answers with one of `finalStatuses`, with which reconnecting cannot help, or cannot read a
 * `lastEventId` that it must resume from. While the tenant is suspended, it tries again about once a minute.
 */
export async function* eventStream(
  open: OpenStream,
  finalStatuses: readonly number[],
  options: EventStreamOptions = {},
): AsyncGenerator<StreamEvent, void, void> {
  const { signal, onConnection, wait = pause } = options;
  const memory: Memory = {
    lastEventId: options.lastEventId,
    heartbeatMs: defaultHeartbeatMs,
    retryMs: options.retryMs ?? 1_000,
    attempts: 0,
    retryInMs: undefined,
  };
  while (!signal?.aborted) {
    let end: End = { reason: 'the server ended the stream', answered: true };
    onConnection?.({ state: 'connecting' });
    try {
      for await (const event of connection(open, memory, signal)) {
        if (event.type === 'ready') onConnection?.({ state: 'online' });
        yield event;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (isFinal(error, finalStatuses)) throw error;
      if (options.mustResume && isCode(error, 'cursor.invalid')) throw error;
      end = endOf(error, memory);
    }
    if (signal?.aborted) return;
    const { retryInMs = backoffMs(memory.attempts, { baseMs: memory.retryMs, capMs: retryCapMs }) } = memory;
    memory.attempts += 1;
    memory.retryInMs = undefined;
    onConnection?.({ state: 'waiting', ...end, retryInMs });
    await wait(retryInMs, signal);
  }
}

type End = Pick<Extract<Connection, { readonly state: 'waiting' }>, 'reason' | 'answered' | 'suspended'>;

/** A suspended tenant may be resumed, with the same tokens. */
const isFinal = (error: unknown, finalStatuses: readonly number[]): boolean =>
  error instanceof ApiError &&
  error.code !== undefined &&
  error.code !== 'tenant.suspended' &&
  finalStatuses.includes(error.status);

/** Why a connection ended; records what the error means for the next attempt. */
function endOf(error: unknown, memory: Memory): End {
  if (!(error instanceof ApiError))
    return { reason: error instanceof Error ? error.message : String(error), answered: true };
  if (error.code === 'tenant.suspended') {
    memory.retryInMs = suspendedRetryMs * (0.5 + Math.random());
    return { reason: error.message, answered: true, suspended: true };
  }
  if (isCode(error, 'cursor.invalid')) memory.lastEventId = undefined;
  if (error.retryAfterSeconds !== undefined) memory.retryInMs = error.retryAfterSeconds * 1_000;
  return { reason: error.message, answered: error.status !== 0 };
}

async function* connection(
  open: OpenStream,
  memory: Memory,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamEvent> {
  const abort = new AbortController();
  const stop = () => abort.abort();
  signal?.addEventListener('abort', stop);
  try {
    for await (const { event, data, id } of messages(await bodyOf(open, memory, abort), memory)) {
      const parsed = JSON.parse(data);
      if (event === 'ready') {
        memory.attempts = 0;
        memory.heartbeatMs = parsed.heartbeatMs ?? memory.heartbeatMs;
      }
      if (event === 'bye') memory.retryInMs = parsed.reconnectMs;
      yield { type: event, data: parsed, id };
      // After the yield: an event that the caller has not got yet must come again.
      if (id) memory.lastEventId = id;
    }
  } finally {
    signal?.removeEventListener('abort', stop);
    abort.abort();
  }
}

/** Waits only for the head of the answer: the body has no end. */
async function bodyOf(open: OpenStream, { lastEventId }: Memory, abort: AbortController) {
  const timer = setTimeout(() => abort.abort(), connectMs);
  try {
    const { status, headers, body } = await open(lastEventId, abort.signal);
    if (!body || !headers.get('content-type')?.startsWith('text/event-stream'))
      throw new ApiError(status, 'the answer is no event stream: is this a Belfry server?');
    return body;
  } finally {
    clearTimeout(timer);
  }
}

interface Message {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

/**
 * The events of one response until the server ends it. Only events count as a sign of life, not bytes that a proxy sends to
 * keep the connection open. Silence is counted while waiting, not while the caller works.
 *
 * @throws ApiError with status 0 when the connection breaks or falls silent.
 */
async function* messages(body: ReadableStream<Uint8Array>, memory: Memory): AsyncGenerator<Message> {
  const queue: Message[] = [];
  const parser = createParser({
    maxBufferSize: maxEventChars,
    onRetry: (ms) => {
      memory.retryMs = ms;
    },
    onEvent: ({ event, data, id }) => queue.push({ event: event ?? 'message', data, id }),
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let silentMs = 0;
  try {
    for (;;) {
      const since = performance.now();
      const { done, value } = await nextChunk(reader, memory.heartbeatMs * silentHeartbeats - silentMs);
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      silentMs = queue.length > 0 ? 0 : silentMs + (performance.now() - since);
      for (let message = queue.shift(); message; message = queue.shift()) yield message;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

type Chunk = Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']>>;

async function nextChunk(reader: ReadableStreamDefaultReader<Uint8Array>, waitMs: number): Promise<Chunk> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    const fail = () => reject(new ApiError(0, 'the connection fell silent'));
    timer = setTimeout(fail, Math.max(0, waitMs));
  });
  try {
    return await Promise.race([reader.read(), silence]);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError(0, 'the connection broke', { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
