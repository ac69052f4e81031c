import { createParser } from 'eventsource-parser';
import { ApiError } from './api-error.ts';

export interface SseMessage {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

export interface SseMessagesOptions {
  /** Asked before every wait: the longest silence, after which the connection counts as dead. */
  readonly silenceMs: () => number;
  /** Hears of the server's `retry:`. */
  readonly onRetry: (ms: number) => void;
}

/** A server that sends more than this without finishing an event is none of ours. */
const maxEventChars = 1024 * 1024;

/**
 * The events of one response, in order, until the server ends it. Only events count as a sign of life: what a proxy in
 * between sends to keep the line open does not. Silence is counted while waiting, not while the caller is at work.
 *
 * @throws ApiError with status 0 when the connection breaks or falls silent.
 */
export async function* sseMessages(
  body: ReadableStream<Uint8Array>,
  { silenceMs, onRetry }: SseMessagesOptions,
): AsyncGenerator<SseMessage> {
  const queue: SseMessage[] = [];
  const parser = createParser({
    maxBufferSize: maxEventChars,
    onRetry,
    onEvent: ({ event, data, id }) => queue.push({ event: event ?? 'message', data, id }),
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let silent = 0;
  try {
    for (;;) {
      const since = performance.now();
      const { done, value } = await nextChunk(reader, silenceMs() - silent);
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      silent = queue.length > 0 ? 0 : silent + (performance.now() - since);
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
