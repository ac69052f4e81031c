/** Web Push: the encryption of a message (RFC 8291), and the server's identification to push services (RFC 8292). */
import {
  createCipheriv,
  createECDH,
  createPrivateKey,
  ECDH,
  hkdfSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import type { PushSubscription } from '#contract/panels/push.ts';
import { derivedKey } from '#core/people/secrets.ts';

/** The most bytes of text: every push service accepts messages of 4,096 bytes, of which header, tag and padding take a part. */
export const mostPushBytes = 4_096 - 86 - 16 - 1;

const curve = 'prime256v1';
/** Push services accept at most a day. */
const tokenSeconds = 12 * 3_600;

/** The server's key pair for push services. */
export interface PushKeys {
  /** The uncompressed point in base64url, as browsers expect it. */
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

/** Derived from the server's key, so that all nodes have the same and nothing is stored. */
export function derivePushKeys(serverKey: string): PushKeys {
  const ecdh = createECDH(curve);
  for (let attempt = 0; ; attempt += 1) {
    try {
      ecdh.setPrivateKey(derivedKey(serverKey, `web push ${attempt}`));
      break;
    } catch {
      // About one number in 2³² is not a key of this curve.
    }
  }
  const point = ecdh.getPublicKey();
  const coordinate = (from: number) => point.subarray(from, from + 32).toString('base64url');
  const d = Buffer.from(ecdh.getPrivateKey('hex').padStart(64, '0'), 'hex').toString('base64url');
  const jwk = { kty: 'EC', crv: 'P-256', x: coordinate(1), y: coordinate(33), d };
  return {
    publicKey: point.toString('base64url'),
    privateKey: createPrivateKey({ key: jwk, format: 'jwk' }),
  };
}

/** The `Authorization` header for a push service: a token that no other service accepts. */
export function pushAuthorization(
  { publicKey, privateKey }: PushKeys,
  endpoint: string,
  { contact, now }: { readonly contact: string | undefined; readonly now: number },
): string {
  const part = (json: object) => Buffer.from(JSON.stringify(json)).toString('base64url');
  const claims = {
    aud: new URL(endpoint).origin,
    exp: Math.floor(now / 1000) + tokenSeconds,
    ...(contact !== undefined && { sub: contact }),
  };
  const signed = `${part({ typ: 'JWT', alg: 'ES256' })}.${part(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `vapid t=${signed}.${signature.toString('base64url')}, k=${publicKey}`;
}

/** Whether the keys of a subscription are valid. */
export function isUsableSubscription({ keys }: PushSubscription): boolean {
  try {
    ECDH.convertKey(keys.p256dh, curve, 'base64url');
    return Buffer.from(keys.auth, 'base64url').length === 16;
  } catch {
    return false;
  }
}

/** The body of a request. Tests pass the random parts in `fixed`. */
export function encryptPush(
  text: Uint8Array,
  { keys }: PushSubscription,
  fixed: { readonly privateKey?: Buffer; readonly salt?: Buffer } = {},
): Buffer {
  const [receiver, auth] = [Buffer.from(keys.p256dh, 'base64url'), Buffer.from(keys.auth, 'base64url')];
  const ecdh = createECDH(curve);
  if (fixed.privateKey) ecdh.setPrivateKey(fixed.privateKey);
  else ecdh.generateKeys();
  const [sender, salt] = [ecdh.getPublicKey(), fixed.salt ?? randomBytes(16)];
  const derive = (secret: Uint8Array, by: Uint8Array, info: Uint8Array | string, length: number) =>
    Buffer.from(hkdfSync('sha256', secret, by, info, length));
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), receiver, sender]);
  const secret = derive(ecdh.computeSecret(receiver), auth, info, 32);
  const key = derive(secret, salt, 'Content-Encoding: aes128gcm\0', 16);
  const nonce = derive(secret, salt, 'Content-Encoding: nonce\0', 12);
  const cipher = createCipheriv('aes-128-gcm', key, nonce);
  const recordSize = Buffer.from([0, 0, 0x10, 0]);
  return Buffer.concat([
    ...[salt, recordSize, Buffer.from([sender.length]), sender],
    // The byte 2 ends the last record.
    ...[cipher.update(text), cipher.update(Buffer.from([2])), cipher.final(), cipher.getAuthTag()],
  ]);
}
