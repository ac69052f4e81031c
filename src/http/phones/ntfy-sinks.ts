/** The forms in which a client of ntfy gets messages: each is a sink for the lines of JSON that a stream writes. */
import type { WebSocket } from 'ws';
import type { NtfyMessage } from '#core/streams/ntfy/lines.ts';
import type { Sink } from '#core/streams/panel-stream.ts';

/** Lines of JSON, with a line break after each. */
type Form = (lines: Buffer | string) => Buffer | string;

const eachLine = (lines: Buffer | string, map: (line: string) => string) =>
  linesOf(lines)
    .map((line) => map(line))
    .join('');

const linesOf = (lines: Buffer | string): readonly string[] => lines.toString().split('\n').filter(Boolean);

export const forms: Readonly<Record<'json' | 'sse' | 'raw', { readonly type: string; readonly of: Form }>> = {
  json: { type: 'application/x-ndjson; charset=utf-8', of: (lines) => lines },
  sse: {
    type: 'text/event-stream; charset=utf-8',
    of: (lines) =>
      eachLine(lines, (line) => {
        const { event } = JSON.parse(line) as NtfyMessage;
        const isOfStream = event === 'open' || event === 'keepalive';
        return `${isOfStream ? `event: ${event}\n` : ''}data: ${line}\n\n`;
      }),
  },
  raw: {
    type: 'text/plain; charset=utf-8',
    of: (lines) =>
      eachLine(
        lines,
        (line) => `${(JSON.parse(line) as NtfyMessage).message?.replace(/\r?\n/g, ' ') ?? ''}\n`,
      ),
  },
};

/**
 * A stream in a form. It ends by dropping the connection: an app that sees a body end connects again at once, without a pause; after a
 * connection that was lost it waits.
 */
export const streamIn = (form: Form, sink: Sink): Sink => ({
  write: (chunk, onFlushed) => sink.write(form(chunk), onFlushed),
  end: () => sink.destroy(),
  destroy: () => sink.destroy(),
});

/** The answer to a poll in a form, which ends as answers do. */
export const pollIn = (form: Form, sink: Sink): Sink => ({
  ...streamIn(form, sink),
  end: (lines) => sink.end(lines === undefined ? undefined : form(lines).toString()),
});

/** A client that does not take a chunk in this time is disconnected, as that of a stream is. */
const stalledMs = 30_000;

/** Drops a connection that does not take what is written, as nobody watches an answer to a poll. */
export const dropWhenStalled = (sink: Sink, afterMs = stalledMs): Sink => ({
  write(chunk, onFlushed) {
    const timer = setTimeout(() => sink.destroy(), afterMs).unref();
    sink.write(chunk, () => {
      clearTimeout(timer);
      onFlushed();
    });
  },
  end: (lastChunk) => sink.end(lastChunk),
  destroy: () => sink.destroy(),
});

/** Keeps only the last message of each topic. `done`: their lines, once the stream has ended. */
export function latestIn(): { readonly sink: Sink; readonly done: Promise<string> } {
  const latest = new Map<string, string>();
  const { promise: done, resolve, reject } = Promise.withResolvers<string>();
  const sink: Sink = {
    write(chunk, onFlushed) {
      for (const line of linesOf(chunk)) {
        const { topic, event } = JSON.parse(line) as NtfyMessage;
        if (event === 'message') latest.set(topic, `${line}\n`);
      }
      setImmediate(onFlushed);
    },
    end: () => resolve([...latest.values()].join('')),
    destroy: () => reject(new Error('the log could not be read')),
  };
  return { sink, done };
}

const lineBreak = 0x0a;

/** A WebSocket: a frame for each line, each of which has a line break. It ends without a close frame, which the apps do not answer: they would stay deaf for minutes. */
export const socketSink = (socket: WebSocket): Sink => ({
  write(chunk, onFlushed) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
    let from = 0;
    while (from < bytes.length) {
      const end = bytes.indexOf(lineBreak, from);
      if (end < 0) throw new Error('a line has no end');
      const line = bytes.subarray(from, end);
      from = end + 1;
      const isLast = from === bytes.length;
      socket.send(line, { binary: false }, (error) => {
        if (!error && isLast) onFlushed();
      });
    }
  },
  end: () => socket.terminate(),
  destroy: () => socket.terminate(),
});
