/** Devices: the browsers and phones that get the notifications of a channel of the kind push. */
import type { PushDevice, PushSubscription } from '#contract/panels/push.ts';
import type { TenantId } from '../ports.ts';
import type { Actor } from '../tenants/audit.ts';
import { iso, isoOrNull } from '../time.ts';

/** As long as a pairing code. */
export const pushLinkMs = 10 * 60_000;

/** Identifies a device, or the link that will create it. */
export interface PushDeviceRef {
  readonly tenant: TenantId;
  readonly channel: string;
  readonly id: string;
}

export interface PushDeviceRecord extends PushDeviceRef {
  readonly name: string;
  /** The subscription, encrypted with the server's key; empty when it has ended. */
  readonly sealed: string;
  readonly addedAt: number;
  readonly lastDeliveredAt: number | null;
  /** The id of the notification that it got last. */
  readonly lastNotification: string | null;
  /** The error of the last attempt; null when it succeeded, or there was none. */
  readonly lastError: string | null;
}

/** The result of an attempt for one device. */
export interface PushAttempt {
  readonly id: string;
  /** null if it got the notification. */
  readonly error: string | null;
  /** The subscription that has ended. It is deleted, unless the device has another one by now. */
  readonly ended?: string;
}

/** The part of the directory. */
export interface PushDevices {
  /** The devices of a channel, by name. */
  list(tenant: TenantId, channel: string): Promise<readonly PushDeviceRecord[]>;
  find(ref: PushDeviceRef): Promise<PushDeviceRecord | undefined>;
  /**
   * Stores a link for one device. False when the channel is gone; @throws AppError `conflict` when it has the most devices
   * allowed.
   */
  createLink(ref: PushDeviceRef, expiresAt: number, by: Actor, at: number): Promise<boolean>;
  /** When the link ends; undefined when it was used or removed. */
  linkEnds(ref: PushDeviceRef): Promise<number | undefined>;
  /**
   * Uses up a link and adds its device; the devices that it replaces are removed. Restarts the channel as {@link Channels.update}
   * does. False when the link was used, removed, or has expired.
   */
  add(
    ref: PushDeviceRef,
    device: { readonly name: string; readonly sealed: string; readonly replaces: readonly string[] },
    at: number,
  ): Promise<boolean>;
  /** Replaces the subscription of a device. Restarts the channel as `add` does. False when the device is gone. */
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

/** The push service, as routes use it. */
export interface PushService {
  /** The public key for subscriptions: the same on all nodes, as long as the server's key stays the same. */
  publicKey(): string;
  /** @throws AppError `bad-request` for an invalid subscription. */
  seal(ref: PushDeviceRef, subscription: PushSubscription): string;
  /** Whether the device has exactly this subscription. */
  has(device: PushDeviceRecord, subscription: PushSubscription): boolean;
  /** The devices among these that have a subscription at the same address. */
  sameAs(devices: readonly PushDeviceRecord[], subscription: PushSubscription): readonly string[];
  /** The secret of a link or of a device. It cannot be created without the server's key. */
  secretOf(use: 'link' | 'device', ref: PushDeviceRef): string;
  readSecret(use: 'link' | 'device', secret: string): PushDeviceRef | undefined;
}

/** A device as the API returns it. */
export function pushDeviceView(device: PushDeviceRecord): PushDevice {
  const { id, name, addedAt, lastDeliveredAt, lastError } = device;
  return {
    ...{ id, name, lastError },
    addedAt: iso(addedAt),
    lastDeliveredAt: isoOrNull(lastDeliveredAt),
  };
}
