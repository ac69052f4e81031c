import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { patienceMs } from './patience.ts';

export interface SseMessage {
  readonly event: string;
  readonly id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into what arrived
  readonly data: any;
}

/** A stream that is being read; `messages` collects its messages. */
export interface SseReader {
  readonly response: Response;
  readonly messages: SseMessage[];
  /** Resolves with the first message, from the start, for which `is` holds; rejects after `ms`. */
  next(is: (message: SseMessage) => boolean, ms?: number): Promise<SseMessage>;
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
  close(): void;
}

/** Opens a stream with plain fetch. */
export async function openStream(url: string, headers: Record<string, string>): Promise<SseReader> {
  const abort = new AbortController();
  const response = await fetch(url, { headers, signal: abort.signal });
  const messages: SseMessage[] = [];
  const waiting = new Set<() => void>();
  const parser = createParser({
    onEvent({ event, id, data }: EventSourceMessage) {
      messages.push({ event: event ?? 'message', id, data: JSON.parse(data) });
      for (const look of waiting) look();
    },
  });
  const ended = (async () => {
    if (!response.body || response.status !== 200) return;
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body) parser.feed(decoder.decode(chunk, { stream: true }));
    } catch {
      // Closed by the test or by the server: in both cases it has ended.
    }
  })();
  return {
    response,
    messages,
    ended,
    close: () => abort.abort(),
    next(is, ms = patienceMs) {
      return new Promise((resolve, reject) => {
        const look = () => {
          const found = messages.find(is);
          if (!found) return;
          clearTimeout(timer);
          waiting.delete(look);
          resolve(found);
        };
        const timer = setTimeout(() => {
          waiting.delete(look);
          reject(
            new Error(
              `no such event within ${ms} ms; there were: ${messages.map(({ event }) => event).join(', ')}`,
            ),
          );
        }, ms);
        waiting.add(look);
        look();
      });
    },
  };
}
