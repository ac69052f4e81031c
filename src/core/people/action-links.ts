/**
 * Links for the buttons of a phone's notification. Anyone with a link may do one thing about one alarm, for a panel, as long as the
 * credential with which the phone reads is valid. A link contains no secret that would allow anything else.
 *
 * It has two parts, each with its own signature: the reader, which is the same in all links of a stream, and the action, which is the
 * same for all readers of a message. So a message to thousands of phones is signed once.
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { type Button, buttons } from '#contract/panels/buttons.ts';
import type { TenantId } from '../log/route.ts';
import { derivedKey } from './secrets.ts';

export interface LinkReader {
  readonly tenant: TenantId;
  /** The id of the panel. */
  readonly panel: string;
  /** The id of the credential of the phone. */
  readonly credential: string;
}

export interface LinkedAction {
  readonly tenant: TenantId;
  readonly notification: string;
  /** The position of the message that has the button. */
  readonly position: number;
  readonly button: Button;
}

export interface ActionLink extends LinkReader, LinkedAction {}

/** Enough against guessing, and half as long in each message. */
const signatureBytes = 16;
/** The parts of the text of a reader, and of that of an action, with their signatures. */
const [readerParts, actionParts] = [4, 4];

export class ActionLinks {
  /** Signing with the bytes of a key takes five times as long. */
  readonly #key: KeyObject;

  constructor(key: string) {
    this.#key = createSecretKey(derivedKey(key, 'action links'));
  }

  /** The first part of a link. */
  reader({ tenant, panel, credential }: LinkReader): string {
    const parts = [tenant, panel, credential];
    return `${parts.join('.')}.${this.#signatureOf('reader', parts)}`;
  }

  /** The second part of a link, which follows after a dot. */
  action({ tenant, notification, position, button }: LinkedAction): string {
    const parts = [notification, position, button];
    return `${parts.join('.')}.${this.#signatureOf('action', [tenant, ...parts])}`;
  }

  /** undefined: neither this server nor one with the same key has made it. */
  read(link: string): ActionLink | undefined {
    const parts = link.split('.', readerParts + actionParts + 1);
    if (parts.length !== readerParts + actionParts) return undefined;
    const [tenant = '', panel = '', credential = ''] = parts;
    const [notification = '', position = '', name] = parts.slice(readerParts);
    const reader = this.reader({ tenant: Number(tenant), panel, credential });
    const button = buttons.find((each) => each === name);
    if (!button) return undefined;
    const linked = { tenant: Number(tenant), notification, position: Number(position), button };
    if (!equal(`${reader}.${this.action(linked)}`, link)) return undefined;
    return { panel, credential, ...linked };
  }

  #signatureOf(kind: 'reader' | 'action', parts: readonly (string | number)[]): string {
    const signature = createHmac('sha256', this.#key)
      .update([kind, ...parts].join('.'))
      .digest();
    return signature.subarray(0, signatureBytes).toString('base64url');
  }
}

/** In a time that does not depend on how much of it is right. */
function equal(own: string, given: string): boolean {
  const [a, b] = [Buffer.from(own), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
