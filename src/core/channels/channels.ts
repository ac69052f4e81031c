/**
 * Channels: destinations of notifications beside panels, and the queue of deliveries to them. A delivery is one notification, or
 * what happened to its alarm, on its way to one channel, written in the commit of that entry of the log. It is pending, and then delivered or failed; there is no
 * other state. Deliveries of a channel go out in the order of the log, by the one node that holds the lease of the channel. A
 * failed attempt pauses the channel, up to a longest pause; a delivery that is too old, or beyond the limits, fails. A node that
 * dies loses its lease after a minute, and another one attempts again: a receiver may get a notification twice, and never misses
 * one that did not fail. Devices of push channels are here too. `channel-setup.ts` validates settings and secrets of each kind;
 * sending is in `channels/`, outside the core.
 */

import type { Channel, ChannelDelivery, ChannelTest } from '#contract/channels/channel.ts';
import type { AlarmEvent, ChannelKind } from '#contract/channels/channel-fields.ts';
import type { PushDevice, PushSubscription } from '#contract/panels/push.ts';
import { builtInStyles } from '#contract/routing/level-styles.ts';
import type { TenantId } from '../log/route.ts';
import type { Actor } from '../tenants/audit.ts';
import { iso, isoOrNull } from '../time/time.ts';

/** The longest pause of a channel after a failed attempt. */
export const longestPauseMs = 3_600_000;

/** Whether a notification says that the alert with its key is over. Channels that had the alert get it, too. */
export const isResolve = ({ key, rank }: { readonly key: string | null; readonly rank: number }): boolean =>
  key !== null && rank < builtInStyles.info.rank;

export interface ChannelRecord {
  readonly tenant: TenantId;
  readonly id: string;
  readonly name: string;
  readonly kind: ChannelKind;
  readonly enabled: boolean;
  readonly settings: Readonly<Record<string, string>>;
  /** The names of the secrets that are set. */
  readonly secrets: readonly string[];
  /** The secrets, encrypted with the server's key; null when there are none. */
  readonly sealed: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly health: ChannelHealth;
}

/** Runtime state; not part of the configuration. */
export interface ChannelHealth {
  /** Failed attempts since the last delivery. */
  readonly failures: number;
  readonly failingSince: number | null;
  /** Nothing is attempted before this time; 0: at once. */
  readonly retryAt: number;
  readonly lastDeliveredAt: number | null;
  readonly lastError: string | null;
}

export type ChannelChange = Partial<
  Pick<ChannelRecord, 'name' | 'enabled' | 'settings' | 'secrets' | 'sealed'>
>;

/** The part of the directory. */
export interface Channels {
  /** By name. */
  list(tenant: TenantId): Promise<readonly ChannelRecord[]>;
  find(tenant: TenantId, id: string): Promise<ChannelRecord | undefined>;
  /** The enabled channels of this kind, of all active tenants. */
  listEnabled(kind: ChannelKind): Promise<readonly ChannelRecord[]>;
  /** @throws AppError `conflict` when the name is taken or there are as many as a tenant may have. */
  create(record: Omit<ChannelRecord, 'health'>, by: Actor): Promise<void>;
  /**
   * Restarts the channel: pending deliveries are attempted at once, and those that failed since it began to fail are attempted
   * again unless they are older than a day. `plan` is called again if the channel was changed in the meantime. @throws AppError
   * `conflict` when the name is another channel's.
   */
  update(
    tenant: TenantId,
    id: string,
    plan: (known: ChannelRecord) => ChannelChange,
    by: Actor,
    at: number,
  ): Promise<ChannelRecord | undefined>;
  /** Removes the channel with all its deliveries, pending and finished. */
  remove(tenant: TenantId, id: string, by: Actor, at: number): Promise<boolean>;
}

/** One notification, or what happened to its alarm, on its way to one channel. */
export interface Delivery {
  readonly channel: string;
  /** The position of the notification, or of the entry about the alarm: deliveries of a channel are in this order. */
  readonly position: number;
  /** The notification's id; of an event, that of the newest notification of the alarm that the channel had. */
  readonly notification: string;
  /** null: it is of the notification itself. */
  readonly event: AlarmEvent | null;
  readonly state: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly queuedAt: number;
  readonly finishedAt: number | null;
  /** The result of the last attempt, in one sentence. */
  readonly answer: string | null;
  /** What the receiver calls the message, where an event changes it. */
  readonly reference: string | null;
}

/** A channel with pending deliveries. */
export interface WaitingChannel {
  readonly tenant: TenantId;
  readonly id: string;
  /** When it may be attempted, 0: now. Takes another node's lease into account. */
  readonly readyAt: number;
}

/**
 * Deliveries, written in the commit of their entry (see `History.append` and `History.act`) and kept until retention drops them. Only the
 * holder of a channel's lease delivers through it. Recording a result renews the lease.
 */
export interface DeliveryQueue {
  /**
   * Enabled channels with pending deliveries, of all tenants or of these, at most 500: first the ready ones, least recently
   * served first, then the others by time.
   */
  waiting(now: number, tenants?: readonly TenantId[]): Promise<readonly WaitingChannel[]>;
  /** Takes the lease for this node; false while another node has it, or before `retryAt`. */
  claim(tenant: TenantId, channel: string, now: number): Promise<boolean>;
  release(tenant: TenantId, channel: string, now: number): Promise<void>;
  /** The oldest pending one. */
  next(tenant: TenantId, channel: string): Promise<Delivery | undefined>;
  /**
   * Records a result. Returns whether this node still has the lease: it may be lost, or was released in the same transaction
   * because nothing else is pending. The result is recorded in any case.
   */
  finish(tenant: TenantId, delivery: Delivery, result: DeliveryResult, now: number): Promise<boolean>;
  /**
   * Records a failed attempt: releases the lease, and pauses the channel until `retryAt`, at most
   * {@link longestPauseMs} from `now`, unless it was changed in the meantime. A clock that is set back does not lengthen the pause
   * beyond that.
   */
  retry(
    tenant: TenantId,
    delivery: Delivery,
    failure: {
      readonly answer: string;
      readonly retryAt: number;
      /** `updatedAt` of the channel record that the attempt used. */
      readonly updatedAt: number;
    },
    now: number,
  ): Promise<void>;
  /**
   * For every channel: pending deliveries that are too old or too many fail, the oldest first, and finished ones beyond the
   * limits are deleted.
   */
  trim(options: TrimOptions): Promise<void>;
  /** The newest first. */
  list(tenant: TenantId, channel: string, limit: number): Promise<readonly Delivery[]>;
  /** Those of one notification and of its alarm, by channel, in the order of the log. */
  listByNotification(tenant: TenantId, notification: string): Promise<readonly Delivery[]>;
  /** The newest one of an alert with this key, unless the channel had the end of that alert since. */
  findOpen(tenant: TenantId, channel: string, key: string): Promise<Delivery | undefined>;
  /** How many are pending, by channel; channels with none are left out. */
  pending(tenant: TenantId): Promise<ReadonlyMap<string, number>>;
}

export interface TrimOptions {
  readonly now: number;
  /** The time that ages are measured by: a clock that is ahead for a while ends no delivery. */
  readonly trustedNow: number;
  readonly signal?: AbortSignal;
  readonly onFailed: (tenant: TenantId, count: number) => void;
}

export interface DeliveryResult {
  readonly state: 'delivered' | 'failed';
  readonly answer: string;
  /** The receiver refused it: the channel counts as failing until it delivers. */
  readonly isRefused?: boolean;
  readonly reference?: string | undefined;
}

/** The channel service, as routes use it. */
export interface ChannelService {
  /** Whether the operator configured a mail server for channels without one of their own. */
  readonly hasMailServer: boolean;
  /** The record's secrets, encrypted. */
  seal(tenant: TenantId, id: string, secrets: Readonly<Record<string, string>>): string | null;
  /** @throws AppError `conflict` when they were encrypted with another key. */
  open(record: Pick<ChannelRecord, 'tenant' | 'id' | 'sealed'>): Readonly<Record<string, string>>;
  /** Sends a test notification without the queue; `device`: only to this device. */
  test(record: ChannelRecord, by: Actor, device?: string): Promise<ChannelTest>;
  readonly push: PushService;
  /** Starts a scan for pending deliveries, of this tenant or of all. */
  wake(tenant?: TenantId): void;
  /** Applies the limits of the queue. */
  trim(trustedNow: number, signal: AbortSignal): Promise<void>;
  /** Starts no further attempts, and gives current ones a moment to finish. */
  stop(): Promise<void>;
}

/** Why the answers of a channel do not come. */
export interface AnswerProblem {
  readonly since: number;
  /** Without secrets. */
  readonly message: string;
}

/** What the node that gets the answers writes, and each node reads. The part of the directory. */
export interface AnswerProblems {
  /** By the id of the channel. */
  list(tenant: TenantId): Promise<ReadonlyMap<string, AnswerProblem>>;
  /** undefined: there is none. */
  put(channel: Pick<ChannelRecord, 'tenant' | 'id'>, problem: AnswerProblem | undefined): Promise<void>;
  /** Removes those of all channels. */
  clear(): Promise<void>;
}

/** Gets the answers of systems that do not send them to an address of Belfry. */
export interface AnswerSources {
  /** Opens and ends connections, as channels are set now. Call it every second. */
  update(): Promise<void>;
  stop(): Promise<void>;
}

/** A channel as the API returns it. `answers`: why none come. */
export function channelView(record: ChannelRecord, { pending, now, answers }: ChannelState): Channel {
  const { health } = record;
  return {
    id: record.id,
    name: record.name,
    kind: record.kind,
    enabled: record.enabled,
    settings: { ...record.settings },
    secrets: [...record.secrets],
    createdAt: iso(record.createdAt),
    updatedAt: iso(record.updatedAt),
    state: {
      pending,
      failures: health.failures,
      failingSince: isoOrNull(health.failingSince),
      retryAt: health.retryAt > now ? iso(health.retryAt) : null,
      lastDeliveredAt: isoOrNull(health.lastDeliveredAt),
      lastError: health.lastError,
      answersFailingSince: isoOrNull(answers?.since ?? null),
      answersError: answers?.message ?? null,
    },
  };
}

interface ChannelState {
  readonly pending: number;
  readonly now: number;
  readonly answers?: AnswerProblem | undefined;
}

/** A delivery as the API returns it. */
export function deliveryView(delivery: Delivery, channelName: string, title: string | null): ChannelDelivery {
  const { channel, notification, event, state, attempts, queuedAt, finishedAt, answer } = delivery;
  return {
    channel: { id: channel, name: channelName },
    ...{ notification, title, event, state, attempts, answer },
    queuedAt: iso(queuedAt),
    finishedAt: isoOrNull(finishedAt),
  };
}

/** Devices: the browsers and phones that get the notifications of a channel of the kind push. */

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
  /** The id of the member that it belongs to, and goes with; null: it belongs to no account. */
  readonly person: string | null;
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
   * Stores a link for one device. False when the channel or the member is gone; @throws AppError `conflict` when it has the most devices
   * allowed.
   */
  createLink(
    ref: PushDeviceRef,
    link: { readonly expiresAt: number; readonly person: string | null },
    by: Actor,
    at: number,
  ): Promise<boolean>;
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
  /** The secret with which a device acts on the alarm of one notification. */
  actionSecretOf(ref: PushDeviceRef, notification: string): string;
  readActionSecret(secret: string): (PushDeviceRef & { readonly notification: string }) | undefined;
}

/** A device as the API returns it. `people`: the names of members by id. */
export function pushDeviceView(device: PushDeviceRecord, people: ReadonlyMap<string, string>): PushDevice {
  const { id, name, person, addedAt, lastDeliveredAt, lastError } = device;
  return {
    ...{ id, name, lastError },
    person: person === null ? null : { id: person, name: people.get(person) ?? '' },
    addedAt: iso(addedAt),
    lastDeliveredAt: isoOrNull(lastDeliveredAt),
  };
}
