/** Encrypts secrets with the server's key, for those that must be readable again. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

export interface Sealer {
  /** AES-256-GCM, base64url: nonce, tag and text. `owner` must be the same when it is opened. */
  seal(secret: Uint8Array, owner?: string): string;
  /** @throws Error when it was sealed with another key, for another owner, or was changed. */
  open(sealed: string, owner?: string): Buffer;
}

/** The key of one use, derived from the server's. */
export const derivedKey = (key: string, use: string): Buffer =>
  Buffer.from(hkdfSync('sha256', key, '', use, 32));

export function createSealer(key: string, use: string): Sealer {
  const sealing = derivedKey(key, use);
  return {
    seal(secret, owner = '') {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', sealing, nonce).setAAD(Buffer.from(owner));
      const sealed = Buffer.concat([cipher.update(secret), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
    },

    open(sealed, owner = '') {
      const bytes = Buffer.from(sealed, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', sealing, bytes.subarray(0, 12), { authTagLength: 16 });
      decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(12, 28));
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]);
    },
  };
}
