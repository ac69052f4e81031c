/** A server with a sender and a reader of its history, for tests of intake. */
import { expect } from 'vitest';
import { exchange, type RawAnswer, RawConnection, type RawRequest, rawRequest } from './raw-http.ts';
import { type Answer, type CallOptions, TestServer } from './server.ts';

export const uuidv7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A response of fetch or of a raw connection. */
export interface Reply {
  readonly status: number;
  readonly body: string;
}

/** Raw UTF-8 bytes in a header, as fetch takes them. */
export const bytesOf = (text: string) => Buffer.from(text).toString('latin1');

export class IntakeDesk {
  readonly server: TestServer;
  readonly token: string;
  readonly key: string;

  private constructor(server: TestServer, token: string, key: string) {
    this.server = server;
    this.token = token;
    this.key = key;
  }

  static async open(env: Record<string, string> = {}): Promise<IntakeDesk> {
    const server = await TestServer.start(env);
    return new IntakeDesk(server, await server.token({ name: 'ci' }), await server.key());
  }

  close(): Promise<void> {
    return this.server.stop();
  }

  /** POST /api/notify with the desk's token, or another one. */
  post(options: CallOptions): Promise<Answer> {
    return this.server.call('POST', '/api/notify', { token: this.token, ...options });
  }

  /** Posts, checks the answer, and returns the notification from history. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into what was stored
  async accepted(options: CallOptions): Promise<any> {
    const answer = await this.post(options);
    expect(answer).toMatchObject({ status: 200, json: { ok: true, id: expect.stringMatching(uuidv7) } });
    return this.find(answer.json.id);
  }

  // biome-ignore lint/suspicious/noExplicitAny: a test looks into what was stored
  async find(id: string): Promise<any> {
    const { status, json } = await this.server.call('GET', `/api/notifications/${id}`, { token: this.key });
    expect(status).toBe(200);
    return json;
  }

  /** Posts, and expects a refusal that stores nothing; returns its message. */
  async refused(status: number, options: CallOptions): Promise<string> {
    const before = await this.head();
    const answer = await this.post(options);
    expect(answer.status).toBe(status);
    expect(await this.head()).toBe(before);
    return answer.json.error;
  }

  /** The position of the newest notification; 0 when there is none. */
  async head(): Promise<number> {
    const { json } = await this.server.call('GET', '/api/history?limit=1', { token: this.key });
    return json.notifications[0]?.position ?? 0;
  }

  /** As `post`, with raw bytes; the connection is closed after the answer. */
  async raw({ headers = [], ...rest }: RawRequest): Promise<Reply> {
    const connection = await RawConnection.open(this.server.url);
    try {
      const authorized = [['Authorization', `Bearer ${this.token}`] as const, ...headers];
      await connection.write(rawRequest({ ...rest, headers: authorized }));
      const [answer] = await connection.next();
      if (!answer) throw new Error('the connection was ended without an answer');
      return answer;
    } finally {
      connection.close();
    }
  }
}

/** Checks a refusal: JSON with exactly one field. */
export function expectError({ status, body }: Reply, ...statuses: number[]): string {
  expect(statuses, body).toContain(status);
  const json = JSON.parse(body) as { error: string };
  expect(json).toEqual({ error: expect.stringMatching(/\S/) });
  return json.error;
}

/**
 * Sends malformed bytes. No answer may be a 5xx, an error must be JSON with one field, and exactly the accepted notifications
 * must be stored.
 */
export async function hold(desk: IntakeDesk, bytes: string | Buffer): Promise<RawAnswer[]> {
  const before = await desk.head();
  const answers = await exchange(desk.server.url, bytes);
  for (const answer of answers) {
    expect(answer.status, answer.body).toBeLessThan(500);
    if (answer.status >= 400) {
      expectError(answer, answer.status);
      expect(answer.headers['belfry-error'], answer.body).toBeDefined();
    }
  }
  const accepted = answers.filter(
    ({ status, body }) => status === 200 && body.startsWith('{"ok":true,"id":'),
  );
  expect(await desk.head()).toBe(before + accepted.length);
  return answers;
}
