/** Web Push: devices of channels of the kind push. */
import { type Static, Type } from 'typebox';
import { component, Instant, NamedRef, NullableInstant, nullable } from '../schema.ts';
import { type Button, buttons } from './buttons.ts';

export const PushDevice = component('PushDevice', {
  id: Type.String(),
  name: Type.String(),
  person: nullable(NamedRef, {
    description: 'The member that it belongs to; null: to no account. It is removed with the member.',
  }),
  addedAt: Instant,
  lastDeliveredAt: NullableInstant,
  lastError: nullable(Type.String(), {
    description: 'Of the last attempt; null: it succeeded, or there was none.',
  }),
});
export type PushDevice = Static<typeof PushDevice>;

export const PushDeviceList = component('PushDeviceList', { devices: Type.Array(PushDevice) });
export type PushDeviceList = Static<typeof PushDeviceList>;

export const PushLinkCreate = component('PushLinkCreate', {
  userId: Type.Optional(
    nullable(Type.String(), { description: 'The member that the device is to belong to; default: nobody.' }),
  ),
});
export type PushLinkCreate = Static<typeof PushLinkCreate>;

export const PushLinkCreated = component('PushLinkCreated', {
  id: Type.String({ description: 'Of the device that it adds.' }),
  link: Type.String({ description: 'To open on the device. It works once, for ten minutes.' }),
  expiresAt: Instant,
});
export type PushLinkCreated = Static<typeof PushLinkCreated>;

/** As `PushSubscription.toJSON()` of a browser has it. */
export const PushSubscription = Type.Object(
  {
    endpoint: Type.String({ minLength: 1, maxLength: 2048 }),
    keys: Type.Object({
      p256dh: Type.String({ pattern: '^[A-Za-z0-9_-]{87}$' }),
      auth: Type.String({ pattern: '^[A-Za-z0-9_-]{22}$' }),
    }),
  },
  { title: 'PushSubscription' },
);
export type PushSubscription = Static<typeof PushSubscription>;

const secret = Type.String({ maxLength: 300 });

/** `secret` stands behind # in a link, or was answered when the device was added. */
export const PushSecret = component('PushSecret', { secret });

/** What a link or a device belongs to. */
const place = {
  tenant: Type.String({ description: "The tenant's title." }),
  channel: Type.String({ description: "The channel's name." }),
  publicKey: Type.String({ description: 'The applicationServerKey to subscribe with, base64url.' }),
};

export const PushLink = component('PushLink', { ...place, expiresAt: Instant });
export type PushLink = Static<typeof PushLink>;

export const PushOwnDevice = component('PushOwnDevice', { ...place, ...PushDevice.properties });
export type PushOwnDevice = Static<typeof PushOwnDevice>;

export const PushDeviceAdd = component('PushDeviceAdd', {
  secret,
  name: Type.String({ minLength: 1, maxLength: 100, pattern: '^(?=.*\\S)[^\\u0000-\\u001f\\u007f]+$' }),
  subscription: PushSubscription,
});
export type PushDeviceAdd = Static<typeof PushDeviceAdd>;

export const PushDeviceAdded = component('PushDeviceAdded', {
  ...PushOwnDevice.properties,
  secret: Type.String({ description: 'The device proves itself with it; it is never answered again.' }),
});
export type PushDeviceAdded = Static<typeof PushDeviceAdded>;

export const PushRenewal = component('PushRenewal', { secret, subscription: PushSubscription });

/** `secret`: that of the notification. */
export const PushAct = component('PushAct', { secret, action: Type.Enum([...buttons]) });
export type PushAct = Static<typeof PushAct>;

export const PushActed = component('PushActed', {
  by: Type.String({ description: 'Who acknowledged the alarm: this device, or somebody before it.' }),
});
export type PushActed = Static<typeof PushActed>;

/** What a push message holds, once the browser has decrypted it: the service worker shows it. */
export interface PushPayload {
  readonly title: string;
  readonly body: string;
  /** The same for all messages about an alarm: the next one takes the place of the one before. */
  readonly tag: string;
  /** What a tap opens: the notification's own link, or a path of the dashboard. */
  readonly url: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** It stays until somebody has looked at it, where the system lets it. */
  readonly stays: boolean;
  /** The alarm needs nobody any more, or not now: shown without a sound, and taken away soon. */
  readonly isOver: boolean;
  /** The buttons, and with what the device proves itself when one is pressed. */
  readonly actions: readonly Button[];
  readonly secret: string;
}
