import type { OutgoingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Sink } from '#core/streams/panel-stream.ts';

/** A response that stays open. */
export interface StreamResponse extends Sink {
  /** Whether anything has been sent; until then an error can still be answered as one. */
  readonly begun: boolean;
  /** Calls back once, when the client disconnected or the stream ended. */
  onGone(callback: () => void): void;
}

const sseType = 'text/event-stream; charset=utf-8';
const streamHeaders = {
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

/** Answers HEAD with the headers of a stream, without opening one. */
export const answerSseHead = (reply: FastifyReply, contentType = sseType): FastifyReply =>
  reply.headers({ 'content-type': contentType, ...streamHeaders }).send(Readable.from([]));

/** How long a client may take to read the last event before the connection is closed. */
const lastWordsMs = 2_000;

/**
 * A response that stays open for events. The head goes out with the first chunk, so that what fails before it is still
 * answered as an error. Over HTTP/1.1 each write is a chunk of the chunked encoding, because some clients (Python's `requests`) hold
 * back the end of a body without one; over HTTP/1.0 the body ends with the connection. Once the head is out, chunks go straight to the
 * socket, which saves a tenth or more of each write.
 */
export function openSse(request: FastifyRequest, reply: FastifyReply, contentType = sseType): StreamResponse {
  const response = reply.raw;
  const { socket, httpVersion } = request.raw;
  const isChunked = httpVersion === '1.1';
  let begun = false;
  let headIsOut = false;
  let over = false;
  const begin = () => {
    if (begun) return;
    begun = true;
    reply.hijack();
    socket.setNoDelay(true);
    socket.setTimeout(0);
    // No reader has a reason to half-close, so one that does has gone. Otherwise only a heartbeat would show it.
    socket.once('end', () => response.destroy());
    response.useChunkedEncodingByDefault = isChunked;
    response.shouldKeepAlive = false;
    response.writeHead(200, {
      ...(reply.getHeaders() as OutgoingHttpHeaders),
      'content-type': contentType,
      ...streamHeaders,
    });
  };
  return {
    get begun() {
      return begun;
    },
    write(chunk, onFlushed) {
      // The stream may be ended by somebody other than the writer, so a write after the end is ignored.
      if (over) return;
      // A chunk that could not be written was not flushed: the client has gone.
      const flushed = (error?: Error | null) => {
        if (error) return;
        headIsOut = true;
        onFlushed();
      };
      if (headIsOut) return void socket.write(isChunked ? frameChunk(chunk) : chunk, flushed);
      begin();
      response.write(chunk, flushed);
    },
    end(lastWords) {
      if (over) return;
      begin();
      over = true;
      response.end(lastWords ?? '');
      // A client that no longer reads would keep the socket open.
      setTimeout(() => response.destroy(), lastWordsMs).unref();
    },
    destroy: () => response.destroy(),
    onGone(callback) {
      if (response.destroyed) callback();
      else response.once('close', callback);
    },
  };
}

const lineEnd = Buffer.from('\r\n');
/** The newest bytes and their chunk: panels with the same tags are sent the same bytes, one after the other. */
let newest: { readonly bytes: Buffer; readonly chunk: Buffer } | undefined;

/** As a chunk of the chunked encoding. */
function frameChunk(bytes: Buffer | string): Buffer | string {
  // An empty chunk would end the body.
  if (bytes.length === 0) return bytes;
  if (typeof bytes === 'string') return `${Buffer.byteLength(bytes).toString(16)}\r\n${bytes}\r\n`;
  if (newest?.bytes !== bytes) {
    const size = Buffer.from(`${bytes.length.toString(16)}\r\n`);
    newest = { bytes, chunk: Buffer.concat([size, bytes, lineEnd]) };
  }
  return newest.chunk;
}

/** Waits until a stream has begun. A failure is answered as an error if nothing was sent yet, and ends the stream otherwise. */
export async function begin(
  sse: Pick<StreamResponse, 'begun' | 'destroy'>,
  opening: Promise<unknown>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  try {
    await opening;
  } catch (error) {
    if (!sse.begun) throw error;
    sse.destroy();
  }
  return reply;
}
