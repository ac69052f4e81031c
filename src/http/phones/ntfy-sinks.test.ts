import { expect, it, vi } from 'vitest';
import type { WebSocket } from 'ws';
import type { Sink } from '#core/streams/panel-stream.ts';
import { dropWhenStalled, forms, socketSink } from './ntfy-sinks.ts';

const open = '{"id":"a","event":"open","topic":"t"}\n';
const message = '{"id":"b","event":"message","topic":"t","message":"one\\ntwo"}\n';
const clear = '{"id":"c","event":"message_clear","topic":"t"}\n';

it('a message of Server-Sent Events has no event line; what is of the stream itself has one', () => {
  expect(forms.sse.of(open + message)).toBe(
    `event: open\ndata: ${open.trim()}\n\ndata: ${message.trim()}\n\n`,
  );
});

it('as text, a message is one line, and everything else an empty one', () => {
  expect(forms.raw.of(Buffer.from(open + message + clear))).toBe('\none two\n\n');
});

it('a client that takes nothing of a poll is dropped; one that takes it is not', () => {
  vi.useFakeTimers();
  try {
    let take: () => void = () => undefined;
    const destroyed = vi.fn();
    const sink: Sink = {
      write: (_chunk, onFlushed) => {
        take = onFlushed;
      },
      end: () => undefined,
      destroy: destroyed,
    };
    const bounded = dropWhenStalled(sink);
    const flushed = vi.fn();
    bounded.write(message, flushed);
    take();
    vi.advanceTimersByTime(60_000);
    expect([flushed.mock.calls.length, destroyed.mock.calls.length]).toEqual([1, 0]);
    bounded.write(message, flushed);
    vi.advanceTimersByTime(30_001);
    expect(destroyed).toHaveBeenCalledOnce();
  } finally {
    vi.useRealTimers();
  }
});

it('a WebSocket gets a frame of text for each line, and the next chunk when the last of them is sent', () => {
  const sent: string[] = [];
  const callbacks: (() => void)[] = [];
  const socket = {
    send(data: Buffer, { binary }: { binary: boolean }, callback: () => void) {
      sent.push(binary ? 'binary' : data.toString());
      callbacks.push(callback);
    },
  };
  const sink = socketSink(socket as unknown as WebSocket);
  const flushed = vi.fn();
  sink.write(Buffer.from(`${open}${message.replace('two', 'zwei Gänse')}`), flushed);
  sink.write(clear, flushed);
  expect(sent).toEqual([open, message.replace('two', 'zwei Gänse'), clear].map((line) => line.slice(0, -1)));
  callbacks[0]?.();
  expect(flushed).not.toHaveBeenCalled();
  for (const callback of callbacks.slice(1)) callback();
  expect(flushed).toHaveBeenCalledTimes(2);
  expect(() => sink.write('a line that is cut off', flushed)).toThrow();
});
