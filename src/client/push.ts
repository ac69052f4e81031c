import type { ChannelTest } from '#contract/channel.ts';
import type {
  PushDeviceAdd,
  PushDeviceAdded,
  PushLink,
  PushOwnDevice,
  PushSubscription,
} from '#contract/push.ts';
import { createCall, jsonOf, withTimeLimit } from './call.ts';

/** The calls of a push device. All throw an ApiError if the call fails. */
export interface PushCalls {
  link(secret: string): Promise<PushLink>;
  add(device: PushDeviceAdd): Promise<PushDeviceAdded>;
  device(secret: string): Promise<PushOwnDevice>;
  renew(secret: string, subscription: PushSubscription): Promise<void>;
  test(secret: string): Promise<ChannelTest>;
  remove(secret: string): Promise<void>;
}

/** @param url where the server is, as in https://belfry.example.org. */
export function createPushCalls(url: string, timeoutMs = 60_000): PushCalls {
  const call = createCall({ url });
  const post = (path: string, body: object) =>
    withTimeLimit(timeoutMs, undefined, (signal) => call('POST', `/api/push/${path}`, { body, signal }));
  const ask = async <T>(path: string, body: object) => jsonOf<T>(await post(path, body));
  return {
    link: (secret) => ask('link', { secret }),
    add: (device) => ask('devices', device),
    device: (secret) => ask('device', { secret }),
    async renew(secret, subscription) {
      await post('device/subscription', { secret, subscription });
    },
    test: (secret) => ask('device/test', { secret }),
    async remove(secret) {
      await post('device/remove', { secret });
    },
  };
}
