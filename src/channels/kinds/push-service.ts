/** Devices of push channels: their keys and secrets, and the input of a delivery attempt. */
import type { PushSubscription } from '#contract/panels/push.ts';
import type { ChannelRecord } from '#core/channels/channels.ts';
import type { PushDeviceRef, PushDevices, PushService } from '#core/channels/push-devices.ts';
import { badField } from '#core/errors.ts';
import { createSealer } from '#core/history/sealing.ts';
import type { PushAudience } from './push.ts';
import { derivePushKeys, isUsableSubscription } from './push-encryption.ts';

interface Options {
  readonly devices: PushDevices;
  /** The server's key. */
  readonly key: string;
  readonly contact: string | undefined;
  readonly now: () => number;
}

export interface PushSender extends PushService {
  /** The devices of a channel, or for a test one of them. */
  audienceOf(
    channel: Pick<ChannelRecord, 'tenant' | 'id'>,
    notification: { readonly id: string },
    test?: PushTest,
  ): Promise<PushAudience>;
}

export interface PushTest {
  /** The device that requests a test; undefined if an admin tests all devices. */
  readonly device: string | undefined;
}

export function createPushService({ devices, key, contact, now }: Options): PushSender {
  // Derived when they are first needed.
  const keys = once(() => derivePushKeys(key));
  const subscriptions = once(() => createSealer(key, 'push subscriptions'));
  const secrets = once(() => createSealer(key, 'push secrets'));

  const open = (ref: PushDeviceRef & { readonly sealed: string }): PushSubscription | undefined => {
    try {
      return JSON.parse(subscriptions().open(ref.sealed, nameOf(ref)).toString('utf8')) as PushSubscription;
    } catch {
      return undefined;
    }
  };

  return {
    publicKey: () => keys().publicKey,

    seal(ref, subscription) {
      const { endpoint, keys: given } = subscription;
      if (!isAcceptable(URL.parse(endpoint))) throw badField('subscription.endpoint', 'must be an https URL');
      if (!isUsableSubscription(subscription)) throw badField('subscription.keys', 'cannot be encrypted for');
      const { p256dh, auth } = given;
      return subscriptions().seal(
        Buffer.from(JSON.stringify({ endpoint, keys: { p256dh, auth } })),
        nameOf(ref),
      );
    },

    has(device, { endpoint, keys: { p256dh, auth } }) {
      const known = open(device);
      return known?.endpoint === endpoint && known.keys.p256dh === p256dh && known.keys.auth === auth;
    },

    sameAs: (known, { endpoint }) =>
      known.filter((each) => open(each)?.endpoint === endpoint).map(({ id }) => id),

    secretOf: (use, ref) => secrets().seal(Buffer.from(nameOf(ref)), use),

    readSecret(use, secret) {
      try {
        const [tenant, channel, id] = secrets().open(secret, use).toString('utf8').split(' ');
        return channel === undefined || id === undefined
          ? undefined
          : { tenant: Number(tenant), channel, id };
      } catch {
        return undefined;
      }
    },

    async audienceOf({ tenant, id: channel }, notification, test) {
      const known = await devices.list(tenant, channel);
      const chosen = known.filter(({ id }) => test?.device === undefined || id === test.device);
      return {
        keys: keys(),
        contact,
        isDetailed: test !== undefined && test.device === undefined,
        targets: chosen.map((each) => ({
          id: each.id,
          name: each.name,
          subscription: open(each),
          hasEnded: each.sealed === '',
          isFailing: each.lastError !== null,
          hasIt: each.lastNotification === notification.id,
        })),
        async record(attempts) {
          const sealedOf = (id: string) => chosen.find((each) => each.id === id)?.sealed ?? '';
          const made = attempts.map(({ id, error, isGone }) => ({
            ...{ id, error },
            ...(isGone && { ended: sealedOf(id) }),
          }));
          await devices.record({ tenant, channel }, test ? undefined : notification.id, made, now());
        },
      };
    },
  };
}

/** The person who adds a device chooses the address, so plain HTTP is accepted on this machine only. */
const isAcceptable = (endpoint: URL | null) =>
  endpoint?.protocol === 'https:' ||
  (endpoint?.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(endpoint.hostname));

/** Part of the encryption, so that a change in the database cannot move a subscription to another channel. */
const nameOf = ({ tenant, channel, id }: PushDeviceRef) => `${tenant} ${channel} ${id}`;

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
