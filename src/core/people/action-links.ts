/**
 * Links for the buttons of a phone's notification: whoever has one may do one thing about one alarm, for a panel, as long as the
 * credential with which the phone reads is valid. They contain no secret that would allow anything else.
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { type Button, buttons } from '#contract/panels/buttons.ts';
import type { TenantId } from '../log/route.ts';
import { derivedKey } from './secrets.ts';

export interface ActionLink {
  readonly tenant: TenantId;
  /** The id of the panel. */
  readonly panel: string;
  /** The id of the credential of the phone. */
  readonly credential: string;
  readonly notification: string;
  readonly button: Button;
}

export class ActionLinks {
  /** Signing with the bytes of a key takes five times as long. */
  readonly #key: KeyObject;

  constructor(key: string) {
    this.#key = createSecretKey(derivedKey(key, 'action links'));
  }

  sign({ tenant, panel, credential, notification, button }: ActionLink): string {
    const text = [tenant, panel, credential, notification, button].join('.');
    return `${text}.${this.#signatureOf(text).toString('base64url')}`;
  }

  /** undefined: neither this server nor one with the same key has made it. */
  read(signed: string): ActionLink | undefined {
    const end = signed.lastIndexOf('.');
    const text = signed.slice(0, Math.max(0, end));
    const [own, given] = [this.#signatureOf(text), Buffer.from(signed.slice(end + 1), 'base64url')];
    if (own.length !== given.length || !timingSafeEqual(own, given)) return undefined;
    const [tenant, panel = '', credential = '', notification = '', name] = text.split('.');
    const button = buttons.find((each) => each === name);
    return button && { tenant: Number(tenant), panel, credential, notification, button };
  }

  #signatureOf(text: string): Buffer {
    return createHmac('sha256', this.#key).update(text).digest();
  }
}
