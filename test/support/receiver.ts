import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Answer } from './server.ts';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into what came
  readonly json: any;
}

interface Reply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** An HTTP server that records requests, and answers with 200 or the given replies. */
export class Receiver {
  readonly received: Received[] = [];
  /** The next answers, in order; then 200. */
  readonly replies: Reply[] = [];
  /** Decides every answer, instead of `replies`. */
  answer: ((received: Received) => Reply | Promise<Reply>) | undefined;
  readonly #server = createServer(async (request, response) => {
    const body = await text(request).catch(() => undefined);
    // Its sender has gone, or the receiver is closed meanwhile.
    if (body === undefined) return;
    const isJson = request.headers['content-type']?.includes('json');
    const { method = '', url: path = '', headers } = request;
    const received = { method, path, headers, body, json: isJson ? JSON.parse(body) : undefined };
    this.received.push(received);
    const reply = (await this.answer?.(received)) ?? this.replies.shift() ?? {};
    response.writeHead(reply.status ?? 200, reply.headers).end(reply.body ?? 'ok');
  });

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Creates a webhook channel that sends to this receiver; returns it. */
  async webhook(
    call: (method: string, path: string, json: unknown) => Promise<Answer>,
    { name = 'hook', path = '/hook', ...more }: { name?: string; path?: string; secrets?: object } = {},
  ) {
    const channel = { name, kind: 'webhook', settings: { url: this.url + path }, ...more };
    const { status, json, text } = await call('POST', '/api/channels', channel);
    if (status !== 201) throw new Error(text);
    return json;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}
