/** Signatures of payloads, so that a sender need not send its secret. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { derivedKey } from '../people/secrets.ts';

/** Names in lower case. */
type SignedHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A signature with a time may be this old, or this far in the future. */
const toleranceMs = 5 * 60_000;
/** A sender that rotates its secret sends two; hundreds are an attack. */
const mostSignatures = 10;
const prefix = 'whsec_';

/**
 * Each token has a secret for signatures beside the one in its text. It is derived from the server key and the token's id, so
 * it is stored nowhere, is the same on every node, and ends with its token.
 */
export class WebhookSignatures {
  readonly #key: Buffer;

  constructor(serverKey: string) {
    this.#key = derivedKey(serverKey, 'webhook signatures');
  }

  /** `whsec_` and 32 bytes in base64, the form of Standard Webhooks. */
  secretOf(tokenId: string): string {
    return prefix + createHmac('sha256', this.#key).update(tokenId).digest('base64');
  }

  /**
   * Whether the body was signed with the secret of this token: as GitHub signs (X-Hub-Signature-256), or as Standard Webhooks
   * say (webhook-id, webhook-timestamp, webhook-signature). https://www.standardwebhooks.com/
   */
  matches(tokenId: string, headers: SignedHeaders, body: Buffer, now: number): boolean {
    const secret = this.secretOf(tokenId);
    const ofGithub = /^sha256=([0-9a-f]{64})$/i.exec(String(headers['x-hub-signature-256'] ?? ''))?.[1];
    if (ofGithub !== undefined) return equal(hmac(secret, body), Buffer.from(ofGithub, 'hex'));
    const [id, time] = [headers['webhook-id'], headers['webhook-timestamp']];
    if (typeof id !== 'string' || typeof time !== 'string' || !/^\d{1,12}$/.test(time)) return false;
    if (Math.abs(Number(time) * 1000 - now) > toleranceMs) return false;
    const content = Buffer.concat([Buffer.from(`${id}.${time}.`, 'latin1'), body]);
    // Some senders use the text of the secret as the key, and not the bytes that it encodes.
    const expected = [Buffer.from(secret.slice(prefix.length), 'base64'), secret].map((key) =>
      hmac(key, content),
    );
    return String(headers['webhook-signature'] ?? '')
      .split(' ', mostSignatures)
      .filter((text) => text.startsWith('v1,'))
      .map((text) => Buffer.from(text.slice(3), 'base64'))
      .some((given) => expected.some((each) => equal(each, given)));
  }
}

/** Whether there is a signature that could be verified. */
export function isSigned(headers: SignedHeaders): boolean {
  return headers['x-hub-signature-256'] !== undefined || headers['webhook-signature'] !== undefined;
}

const hmac = (key: string | Buffer, content: Buffer) => createHmac('sha256', key).update(content).digest();
const equal = (a: Buffer, b: Buffer) => a.length === b.length && timingSafeEqual(a, b);
