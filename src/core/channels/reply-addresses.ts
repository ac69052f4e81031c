/**
 * Addresses for replies to the mails of a channel: only somebody who had the mail knows its address, and it allows to act on that alarm
 * alone. It has at most 64 characters before its domain, and holds in upper case too: mail servers may change that.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { TenantId } from '../log/route.ts';
import { derivedKey } from '../people/secrets.ts';

export interface RepliedTo {
  readonly tenant: TenantId;
  /** The id of the channel. */
  readonly channel: string;
  readonly notification: string;
}

/** What an address has. {@link isRepliedTo} finds the channel. */
export interface ReadAddress {
  readonly tenant: TenantId;
  readonly notification: string;
  readonly channelHash: string;
}

const idForm = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
const [hashBytes, signatureBytes] = [4, 10];
const partsBytes = 4 + 16 + hashBytes;

export class ReplyAddresses {
  readonly #key: Buffer;
  readonly #name: string;
  readonly #domain: string;

  /** `address`: as in belfry@example.org, with at most 8 characters before the `@`. */
  constructor(key: string, address: string) {
    this.#key = derivedKey(key, 'mail replies');
    const end = address.lastIndexOf('@');
    [this.#name, this.#domain] = [address.slice(0, end).toLowerCase(), address.slice(end + 1)];
  }

  /** undefined: the notification has an id of another form. */
  addressOf({ tenant, channel, notification }: RepliedTo): string | undefined {
    if (!idForm.test(notification)) return undefined;
    const bytes = Buffer.alloc(partsBytes);
    bytes.writeUInt32BE(tenant);
    bytes.write(notification.replaceAll('-', ''), 4, 'hex');
    bytes.write(hashOf(channel), 20, 'hex');
    const signed = toBase32(Buffer.concat([bytes, this.#signatureOf(bytes)]));
    return `${this.#name}+${signed}@${this.#domain}`;
  }

  /** undefined: neither this server nor one with the same key has made it. The domain does not matter. */
  read(address: string): ReadAddress | undefined {
    const local = address.slice(0, Math.max(0, address.lastIndexOf('@'))).toLowerCase();
    if (!local.startsWith(`${this.#name}+`)) return undefined;
    const signed = fromBase32(local.slice(this.#name.length + 1));
    if (signed?.length !== partsBytes + signatureBytes) return undefined;
    const bytes = signed.subarray(0, partsBytes);
    if (!timingSafeEqual(this.#signatureOf(bytes), signed.subarray(partsBytes))) return undefined;
    const id = bytes.toString('hex', 4, 20).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    return { tenant: bytes.readUInt32BE(), notification: id, channelHash: bytes.toString('hex', 20) };
  }

  #signatureOf(bytes: Buffer): Buffer {
    return createHmac('sha256', this.#key).update(bytes).digest().subarray(0, signatureBytes);
  }
}

export const isRepliedTo = ({ channelHash }: ReadAddress, channel: string): boolean =>
  hashOf(channel) === channelHash;

const hashOf = (channel: string) =>
  createHash('sha256')
    .update(channel)
    .digest('hex')
    .slice(0, 2 * hashBytes);

/** Of RFC 4648, in lower case. */
const digits = 'abcdefghijklmnopqrstuvwxyz234567';

function toBase32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? [])
    .map((group) => digits[Number.parseInt(group.padEnd(5, '0'), 2)])
    .join('');
}

/** undefined: another text could stand for the same bytes, or it is none. */
function fromBase32(text: string): Buffer | undefined {
  if (!/^[a-z2-7]{1,64}$/.test(text)) return undefined;
  const bits = [...text].map((digit) => digits.indexOf(digit).toString(2).padStart(5, '0')).join('');
  const bytes = Buffer.from((bits.match(/.{8}/g) ?? []).map((each) => Number.parseInt(each, 2)));
  return toBase32(bytes) === text ? bytes : undefined;
}
