/**
 * Tokens and keys: `bfy_<id>_<secret>_<checksum>` and `bfk_…`. The public id identifies the record. The secret is stored only as
 * its SHA-256; it is random, so a slow hash would add nothing. The checksum detects a typo without a query.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { crc32 } from 'node:zlib';

export type SecretKind = 'token' | 'key';

export interface ParsedSecret {
  readonly kind: SecretKind;
  readonly id: string;
  readonly secret: string;
}

export interface MintedSecret {
  readonly id: string;
  /** The complete text, which is shown once and never stored. */
  readonly text: string;
  /** The stored form of the secret. */
  readonly hash: string;
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefixes = { token: 'bfy', key: 'bfk' } as const;
const idChars = 10;
/** 32 × log2(62) = 190.5 bits. */
const secretChars = 32;
const checksumChars = 6;
const form = new RegExp(
  `^bf([yk])_([0-9A-Za-z]{${idChars}})_([0-9A-Za-z]{${secretChars}})_([0-9A-Za-z]{${checksumChars}})$`,
);
/** The length of a complete token or key. */
export const secretTextChars = 4 + idChars + 1 + secretChars + 1 + checksumChars;

const idForm = new RegExp(`^[0-9A-Za-z]{${idChars}}$`);

/** Whether it has the form of a token's or key's public id. */
export const isSecretId = (text: string): boolean => idForm.test(text);

/** A new token or key. */
export function mintSecret(kind: SecretKind): MintedSecret {
  const id = randomText(base62, idChars);
  const secret = randomSecret();
  const body = `${prefixes[kind]}_${id}_${secret}`;
  return { id, text: `${body}_${checksum(body)}`, hash: hashSecret(secret) };
}

/** A secret without a name: 32 base62 characters, 190 bits. */
export function randomSecret(): string {
  return randomText(base62, secretChars);
}

/** undefined for a text that `mintSecret` cannot have created. Must be cheap, because it runs on every request. */
export function parseSecret(text: string): ParsedSecret | undefined {
  if (text.length !== secretTextChars) return undefined;
  const match = form.exec(text);
  if (!match) return undefined;
  const [, kind, id, secret, sum] = match;
  if (checksum(text.slice(0, -checksumChars - 1)) !== sum) return undefined;
  return { kind: kind === 'y' ? 'token' : 'key', id: id as string, secret: secret as string };
}

/** SHA-256, base64url. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

/** Whether `storedHash` is the hash of this secret, in constant time; false for a malformed hash. */
export function secretMatches(storedHash: string, secret: string): boolean {
  const stored = Buffer.from(storedHash, 'base64url');
  const given = hash('sha256', secret, 'buffer');
  return stored.length === given.length && timingSafeEqual(stored, given);
}

/**
 * `length` characters of `alphabet` (at most 256), each equally likely: bytes that would favour some characters are discarded.
 */
export function randomText(alphabet: string, length: number): string {
  const fair = 256 - (256 % alphabet.length);
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < fair && text.length < length) text += alphabet[byte % alphabet.length];
    }
  }
  return text;
}

/** CRC-32 as base62, most significant first. */
function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let i = 0; i < checksumChars; i++) {
    text = base62[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/**
 * The secret for creating the first account. All nodes of one database derive the same one from their key, so that the link of any
 * node's log works on each of them.
 */
export class InitialSetup {
  readonly #secret: string;
  #isOpen = false;

  constructor(key: string) {
    const digest = createHmac('sha512', key).update('belfry setup').digest();
    const fair = [...digest].filter((byte) => byte < 256 - (256 % base62.length));
    this.#secret = fair
      .map((byte) => base62[byte % base62.length])
      .join('')
      .slice(0, secretChars);
  }

  /** Returns the secret, for a server without an account. */
  open(): string {
    this.#isOpen = true;
    return this.#secret;
  }

  /** In constant time; false when there is nothing to set up. */
  matches(secret: string): boolean {
    return this.#isOpen && secretMatches(hashSecret(this.#secret), secret);
  }

  /** Call it when there is an account. */
  close(): void {
    this.#isOpen = false;
  }
}

/** Encrypts secrets with the server's key, for those that must be readable again. */

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
