/** Devices of channels of the kind push: their keys and secrets, and what an attempt needs of them. */
import type { PushSubscription } from '#contract/push.ts';
import type { ChannelRecord } from '#core/channels.ts';
import { badField } from '#core/errors.ts';
import type { PushDeviceRef, PushDevices, PushService } from '#core/push-devices.ts';
import { createSealer } from '#core/sealing.ts';
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
  /** The devices of a channel, or one of them. */
  audienceOf(
    channel: Pick<ChannelRecord, 'tenant' | 'id'>,
    notification: { readonly id: string },
    onlyDevice?: string,
  ): Promise<PushAudience>;
}

export function createPushService({ devices, key, contact, now }: Options): PushSender {
  // Made when the first device is added or sent to.
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
      if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ''))
        throw badField('subscription.endpoint', 'must be an https URL');
      if (!isUsableSubscription(subscription)) throw badField('subscription.keys', 'cannot be encrypted for');
      const { p256dh, auth } = given;
      return subscriptions().seal(
        Buffer.from(JSON.stringify({ endpoint, keys: { p256dh, auth } })),
        nameOf(ref),
      );
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

    async audienceOf({ tenant, id: channel }, notification, onlyDevice) {
      const known = await devices.list(tenant, channel);
      const chosen = known.filter(({ id }) => onlyDevice === undefined || id === onlyDevice);
      return {
        keys: keys(),
        contact,
        targets: chosen.map((each) => ({
          id: each.id,
          name: each.name,
          subscription: open(each),
          isFailing: each.lastError !== null,
          hasIt: each.lastNotification === notification.id,
        })),
        record: (attempts) => devices.record({ tenant, channel }, notification.id, attempts, now()),
        async remove(id) {
          const sealed = chosen.find((each) => each.id === id)?.sealed;
          await devices.remove({ tenant, channel, id }, 'push service', now(), sealed);
        },
      };
    },
  };
}

/** So that nobody with the database alone can give a subscription to another channel. */
const nameOf = ({ tenant, channel, id }: PushDeviceRef) => `${tenant} ${channel} ${id}`;

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
