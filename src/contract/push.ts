import { type Static, Type } from 'typebox';

/** Web Push: devices of channels of the kind push. */

const instant = Type.Union([Type.String({ format: 'date-time' }), Type.Null()]);

export const PushDevice = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    addedAt: Type.String({ format: 'date-time' }),
    lastDeliveredAt: instant,
    lastError: Type.Union([Type.String(), Type.Null()], {
      description: 'Of the last attempt; null: it succeeded, or there was none.',
    }),
  },
  { title: 'PushDevice', additionalProperties: false },
);
export type PushDevice = Static<typeof PushDevice>;

export const PushDeviceList = Type.Object(
  { devices: Type.Array(PushDevice) },
  { title: 'PushDeviceList', additionalProperties: false },
);
export type PushDeviceList = Static<typeof PushDeviceList>;

export const PushLinkCreated = Type.Object(
  {
    id: Type.String({ description: 'Of the device that it adds.' }),
    link: Type.String({ description: 'To open on the device. It works once, for ten minutes.' }),
    expiresAt: Type.String({ format: 'date-time' }),
  },
  { title: 'PushLinkCreated', additionalProperties: false },
);
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
export const PushSecret = Type.Object({ secret }, { title: 'PushSecret', additionalProperties: false });

/** What a link or a device belongs to. */
const place = {
  tenant: Type.String({ description: "The tenant's title." }),
  channel: Type.String({ description: "The channel's name." }),
  publicKey: Type.String({ description: 'The applicationServerKey to subscribe with, base64url.' }),
};

export const PushLink = Type.Object(
  { ...place, expiresAt: Type.String({ format: 'date-time' }) },
  { title: 'PushLink', additionalProperties: false },
);
export type PushLink = Static<typeof PushLink>;

export const PushOwnDevice = Type.Object(
  { ...place, ...PushDevice.properties },
  { title: 'PushOwnDevice', additionalProperties: false },
);
export type PushOwnDevice = Static<typeof PushOwnDevice>;

export const PushDeviceAdd = Type.Object(
  {
    secret,
    name: Type.String({ minLength: 1, maxLength: 100, pattern: '^(?=.*\\S)[^\\u0000-\\u001f\\u007f]+$' }),
    subscription: PushSubscription,
  },
  { title: 'PushDeviceAdd', additionalProperties: false },
);
export type PushDeviceAdd = Static<typeof PushDeviceAdd>;

export const PushDeviceAdded = Type.Object(
  {
    ...PushOwnDevice.properties,
    secret: Type.String({ description: 'The device proves itself with it; it is never answered again.' }),
  },
  { title: 'PushDeviceAdded', additionalProperties: false },
);
export type PushDeviceAdded = Static<typeof PushDeviceAdded>;

export const PushRenewal = Type.Object(
  { secret, subscription: PushSubscription },
  { title: 'PushRenewal', additionalProperties: false },
);
