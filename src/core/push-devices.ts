/** Devices: the browsers and phones that get the notifications of a channel of the kind push. */
import type { PushDevice, PushSubscription } from '#contract/push.ts';
import type { Actor } from './audit.ts';
import type { TenantId } from './ports.ts';
import { iso } from './stream/frames.ts';

/** As long as a pairing code. */
export const pushLinkMs = 10 * 60_000;

/** Names a device, or the link from which it will be made. */
export interface PushDeviceRef {
  readonly tenant: TenantId;
  readonly channel: string;
  readonly id: string;
}

export interface PushDeviceRecord extends PushDeviceRef {
  readonly name: string;
  /** The subscription, encrypted with the server's key; empty: the push service no longer knows it. */
  readonly sealed: string;
  readonly addedAt: number;
  readonly lastDeliveredAt: number | null;
  /** The id of the notification that it got last. */
  readonly lastNotification: string | null;
  /** Of the last attempt; null when it succeeded, or there was none. */
  readonly lastError: string | null;
}

/** What an attempt did for one device. */
export interface PushAttempt {
  readonly id: string;
  /** null: it got the notification. */
  readonly error: string | null;
  /** The subscription that the push service no longer knows: forgotten, unless the device has another one by now. */
  readonly ended?: string;
}

/** The part of the directory. */
export interface PushDevices {
  /** Of a channel, by name. */
  list(tenant: TenantId, channel: string): Promise<readonly PushDeviceRecord[]>;
  find(ref: PushDeviceRef): Promise<PushDeviceRecord | undefined>;
  /** Stores a link for one device. False when the channel is gone; @throws AppError `conflict` when it has its most devices. */
  createLink(ref: PushDeviceRef, expiresAt: number, by: Actor, at: number): Promise<boolean>;
  /** When the link ends; undefined when it was used or removed. */
  linkEnds(ref: PushDeviceRef): Promise<number | undefined>;
  /**
   * Uses a link up; the devices that it replaces are removed. What waits in the channel is attempted at once, and what failed
   * once more, as after a change of the channel. False when the link was used, removed, or has expired.
   */
  add(
    ref: PushDeviceRef,
    device: { readonly name: string; readonly sealed: string; readonly replaces: readonly string[] },
    at: number,
  ): Promise<boolean>;
  /** The device's browser has another subscription now. Restarts the channel as `add` does. False when the device is gone. */
  renew(ref: PushDeviceRef, sealed: string, at: number): Promise<boolean>;
  /** False when there is nothing to remove. */
  remove(ref: PushDeviceRef, by: Actor, at: number): Promise<boolean>;
  /** Records an attempt; it is no change of configuration. `notification`: undefined for a test. */
  record(
    of: Omit<PushDeviceRef, 'id'>,
    notification: string | undefined,
    attempts: readonly PushAttempt[],
    at: number,
  ): Promise<void>;
}

/** What routes need to add devices and to talk with them. */
export interface PushService {
  /** The key with which browsers subscribe: the same on all nodes, for as long as the server keeps its key. */
  publicKey(): string;
  /** @throws AppError `bad-request` when nothing can be encrypted for it. */
  seal(ref: PushDeviceRef, subscription: PushSubscription): string;
  /** Whether the device has this very subscription. */
  has(device: PushDeviceRecord, subscription: PushSubscription): boolean;
  /** The devices among these that have a subscription at the same address. */
  sameAs(devices: readonly PushDeviceRecord[], subscription: PushSubscription): readonly string[];
  /** What a link holds, and what a device proves itself with: no one can make either without the server's key. */
  secretOf(use: 'link' | 'device', ref: PushDeviceRef): string;
  readSecret(use: 'link' | 'device', secret: string): PushDeviceRef | undefined;
}

/** A device as the API returns it. */
export function pushDeviceView(device: PushDeviceRecord): PushDevice {
  const { id, name, addedAt, lastDeliveredAt, lastError } = device;
  return {
    ...{ id, name, lastError },
    addedAt: iso(addedAt),
    lastDeliveredAt: lastDeliveredAt === null ? null : iso(lastDeliveredAt),
  };
}
