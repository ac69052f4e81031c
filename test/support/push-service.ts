import {
  createDecipheriv,
  createECDH,
  createPublicKey,
  hkdfSync,
  randomBytes,
  randomUUID,
} from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jwtVerify } from 'jose';
import type { PushPayload, PushSubscription } from '#contract/panels/push.ts';

/** A browser's side of a subscription. */
class PushBrowser {
  readonly #ecdh = createECDH('prime256v1');
  readonly #auth = randomBytes(16);
  readonly path = `/${randomUUID()}`;

  constructor() {
    this.#ecdh.generateKeys();
  }

  subscriptionAt(url: string): PushSubscription {
    const keys = {
      p256dh: this.#ecdh.getPublicKey('base64url'),
      auth: this.#auth.toString('base64url'),
    };
    return { endpoint: url + this.path, keys };
  }

  /** Implements RFC 8291 independently of the product's code. */
  decrypt(body: Buffer): string {
    const [salt, sender] = [body.subarray(0, 16), body.subarray(21, 21 + (body[20] ?? 0))];
    const derive = (secret: Uint8Array, by: Uint8Array, info: Uint8Array | string, length: number) =>
      Buffer.from(hkdfSync('sha256', secret, by, info, length));
    const info = Buffer.concat([Buffer.from('WebPush: info\0'), this.#ecdh.getPublicKey(), sender]);
    const secret = derive(this.#ecdh.computeSecret(sender), this.#auth, info, 32);
    const key = derive(secret, salt, 'Content-Encoding: aes128gcm\0', 16);
    const nonce = derive(secret, salt, 'Content-Encoding: nonce\0', 12);
    const record = body.subarray(21 + sender.length);
    const decipher = createDecipheriv('aes-128-gcm', key, nonce).setAuthTag(record.subarray(-16));
    const text = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()]);
    return text.subarray(0, text.lastIndexOf(2)).toString('utf8');
  }
}

export interface Pushed {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly payload: PushPayload;
  /** The claims of the token with which the server identified itself. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** The server's public key. */
  readonly key: string;
}

/** A push service for tests: decrypts messages, and verifies their sender. */
export class PushServiceStub {
  readonly pushed: Pushed[] = [];
  /** The next answers by path; then 201. */
  readonly replies = new Map<string, { status: number; headers?: Record<string, string>; body?: string }[]>();
  readonly #browsers = new Map<string, PushBrowser>();
  readonly #server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
    const path = request.url ?? '';
    const { headers } = request;
    const [, token = '', key = ''] = /^vapid t=(.+), k=(.+)$/.exec(headers.authorization ?? '') ?? [];
    const point = Buffer.from(key, 'base64url');
    const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((each) => each.toString('base64url'));
    const jwk = { kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '' };
    try {
      const verified = await jwtVerify(token, createPublicKey({ key: jwk, format: 'jwk' }), {
        ...{ algorithms: ['ES256'], audience: this.url },
      });
      const text = this.#browsers.get(path)?.decrypt(Buffer.concat(parts)) ?? '{}';
      this.pushed.push({ path, headers, payload: JSON.parse(text), claims: verified.payload, key });
    } catch (error) {
      response.writeHead(400).end(String(error));
      return;
    }
    const { status, headers: more, body } = this.replies.get(path)?.shift() ?? { status: 201 };
    response.writeHead(status, more).end(body);
  });

  static async start(): Promise<PushServiceStub> {
    const stub = new PushServiceStub();
    await new Promise<void>((resolve) => stub.#server.listen(0, '127.0.0.1', resolve));
    return stub;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** A browser subscribes. */
  subscribe(): PushSubscription & { readonly path: string } {
    const browser = new PushBrowser();
    this.#browsers.set(browser.path, browser);
    return { ...browser.subscriptionAt(this.url), path: browser.path };
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}
