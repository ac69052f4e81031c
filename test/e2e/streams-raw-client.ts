import { once } from 'node:events';
import { connect, Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createParser } from 'eventsource-parser';
import { limitMs } from '../support/patience.ts';
import type { SseMessage } from '../support/sse-client.ts';

/** A client on a bare socket that reads only when told to: what it does not take stays with the server. */
export class RawStream {
  readonly #socket: Socket;
  readonly #chunks: string[] = [];
  /** Resolves when the connection is over, for whatever reason. */
  readonly ended: Promise<void>;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('utf8').on('data', (text: string) => this.#chunks.push(text));
    socket.on('error', () => undefined);
    this.ended = new Promise((resolve) => socket.once('close', () => resolve()));
  }

  /** Asks for a path, and reads on until `begun` (the first event) has come; then it stops reading. */
  static async open(
    url: string,
    path: string,
    token: string,
    begun = '\ndata: ',
    headers: readonly string[] = [],
  ): Promise<RawStream> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    const stream = new RawStream(socket);
    const lines = [`GET ${path} HTTP/1.1`, `host: ${hostname}`, `authorization: Bearer ${token}`, ...headers];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    await stream.until(begun);
    socket.pause();
    return stream;
  }

  resume(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#socket.destroy();
  }

  /** What a server in this process has written for this client and not got rid of yet. */
  get bytesHeldByServer(): number {
    const { _getActiveHandles: handles } = process as unknown as { _getActiveHandles(): unknown[] };
    const other = handles().find(
      (handle): handle is Socket => handle instanceof Socket && handle.remotePort === this.#socket.localPort,
    );
    if (!other) throw new Error('the server has no such connection');
    return other.writableLength;
  }

  /** Reads until `needle` has come. */
  async until(needle: string, ms = limitMs(15_000)): Promise<void> {
    const signal = AbortSignal.timeout(ms);
    this.resume();
    let looked = 0;
    let tail = '';
    for (;;) {
      // Never through all that came again: it is megabytes, in hundreds of pieces.
      const text = tail + this.#chunks.slice(looked).join('');
      if (text.includes(needle)) return;
      if (this.#socket.destroyed) throw new Error(`the connection has ended: ${text.slice(-200)}`);
      looked = this.#chunks.length;
      tail = text.slice(-needle.length);
      await Promise.race([once(this.#socket, 'data', { signal }), this.ended]);
    }
  }

  /** Everything that came. */
  get text(): string {
    return this.#chunks.join('');
  }

  /** The events among what came. */
  events(): SseMessage[] {
    const messages: SseMessage[] = [];
    const parser = createParser({
      onEvent: ({ event, id, data }) => messages.push({ event: event ?? '', id, data: JSON.parse(data) }),
    });
    const text = this.#chunks.join('');
    parser.feed(text.slice(text.indexOf('\r\n\r\n') + 4));
    return messages;
  }
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** MiB that this process still holds after collecting garbage, buffers included. */
export function mibHeld(): number {
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 / 1024;
}
