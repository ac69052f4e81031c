import type { ChannelTest } from '#contract/channels/channel.ts';
import type {
  PushDeviceAdd,
  PushDeviceAdded,
  PushLink,
  PushOwnDevice,
  PushSubscription,
} from '#contract/panels/push.ts';
import { createCall, createRequest } from './call.ts';

/** The calls of a push device. All throw an ApiError if the call fails. */
interface PushCalls {
  link(secret: string): Promise<PushLink>;
  add(device: PushDeviceAdd): Promise<PushDeviceAdded>;
  device(secret: string): Promise<PushOwnDevice>;
  renew(secret: string, subscription: PushSubscription): Promise<void>;
  test(secret: string): Promise<ChannelTest>;
  remove(secret: string): Promise<void>;
}

/** @param url where the server is, as in https://belfry.example.org. */
export function createPushCalls(url: string, timeoutMs = 60_000): PushCalls {
  const request = createRequest(createCall({ url }), timeoutMs);
  const post = <T>(path: string, body: object) => request<T>('POST', `/api/push/${path}`, { body });
  return {
    link: (secret) => post('link', { secret }),
    add: (device) => post('devices', device),
    device: (secret) => post('device', { secret }),
    renew: (secret, subscription) => post('device/subscription', { secret, subscription }),
    test: (secret) => post('device/test', { secret }),
    remove: (secret) => post('device/remove', { secret }),
  };
}
