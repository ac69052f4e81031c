/** Channels: ways out of a tenant, and the queue of what is to be delivered through them. */
import type { Channel, ChannelDelivery, ChannelTest } from '#contract/channel.ts';
import type { ChannelKind } from '#contract/channel-fields.ts';
import type { Actor } from './audit.ts';
import type { TenantId } from './ports.ts';
import type { PushService } from './push-devices.ts';
import { iso } from './stream/frames.ts';

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
  /** @throws AppError `conflict` when the name is taken or there are as many as a tenant may have. */
  create(record: Omit<ChannelRecord, 'health'>, by: Actor): Promise<void>;
  /**
   * What waits is attempted at once after it, and what failed since the channel is failing and is no older than a day is attempted once more. `plan` is asked again if what it changes was changed meanwhile. @throws AppError `conflict` when the name is another
   * channel's.
   */
  update(
    tenant: TenantId,
    id: string,
    plan: (known: ChannelRecord) => ChannelChange,
    by: Actor,
    at: number,
  ): Promise<ChannelRecord | undefined>;
  /** With all that is queued for it, and the record of what was delivered. */
  remove(tenant: TenantId, id: string, by: Actor, at: number): Promise<boolean>;
}

/** One notification on its way to one channel. */
export interface Delivery {
  readonly channel: string;
  /** The notification's position: deliveries of a channel are in this order. */
  readonly position: number;
  /** The notification's id. */
  readonly notification: string;
  readonly state: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly queuedAt: number;
  readonly finishedAt: number | null;
  /** The result of the last attempt, in one sentence. */
  readonly answer: string | null;
}

/** A channel for which something is queued. */
export interface WaitingChannel {
  readonly tenant: TenantId;
  readonly id: string;
  /** When it may be attempted, 0: now; another node's lease is respected. */
  readonly readyAt: number;
}

/**
 * Deliveries, written in the commit of their notification (see `History.append`) and kept until retention drops them.
 * A channel is worked on by the holder of its lease alone. A result renews the lease.
 */
export interface DeliveryQueue {
  /**
   * Enabled channels with pending deliveries, of all tenants or of these, at most 500: first those that are ready, the one
   * that was not worked on for the longest time first, then the others in the order of their time.
   */
  waiting(now: number, tenants?: readonly TenantId[]): Promise<readonly WaitingChannel[]>;
  /** Takes the lease for this node; false while another node has it, or nothing is to be attempted yet. */
  claim(tenant: TenantId, channel: string, now: number): Promise<boolean>;
  release(tenant: TenantId, channel: string, now: number): Promise<void>;
  /** The oldest pending one. */
  next(tenant: TenantId, channel: string): Promise<Delivery | undefined>;
  /**
   * Answers whether this node still has the lease: it was lost, or given up in the same transaction because nothing else is
   * pending. What is recorded stays recorded.
   */
  finish(tenant: TenantId, delivery: Delivery, result: DeliveryResult, now: number): Promise<boolean>;
  /** An attempt failed: the lease is given up, and the channel rests until `retryAt`, unless it was changed meanwhile. */
  retry(
    tenant: TenantId,
    delivery: Delivery,
    failure: {
      readonly answer: string;
      readonly retryAt: number;
      /** Of the channel's record that the attempt was made with. */
      readonly updatedAt: number;
    },
    now: number,
  ): Promise<void>;
  /**
   * For every channel: lets the pending deliveries that are too old fail, and the oldest of those that are too many; forgets
   * finished ones beyond their bounds.
   */
  trim(options: TrimOptions): Promise<void>;
  /** The newest first. */
  list(tenant: TenantId, channel: string, limit: number): Promise<readonly Delivery[]>;
  /** Of one notification. */
  of(tenant: TenantId, notification: string): Promise<readonly Delivery[]>;
  /** How many are pending, by channel; channels with none are left out. */
  pending(tenant: TenantId): Promise<ReadonlyMap<string, number>>;
}

export interface TrimOptions {
  readonly now: number;
  readonly signal?: AbortSignal;
  readonly onFailed: (tenant: TenantId, count: number) => void;
}

export interface DeliveryResult {
  readonly state: 'delivered' | 'failed';
  readonly answer: string;
  /** The receiver refused it: the channel counts as failing until it delivers. */
  readonly isRefused?: boolean;
}

/** What routes need of the outgoing side. */
export interface ChannelService {
  /** Whether the operator named a mail server for channels without one of their own. */
  readonly hasMailServer: boolean;
  /** The record's secrets, encrypted. */
  seal(tenant: TenantId, id: string, secrets: Readonly<Record<string, string>>): string | null;
  /** @throws AppError `conflict` when they were encrypted with another key. */
  open(record: Pick<ChannelRecord, 'tenant' | 'id' | 'sealed'>): Readonly<Record<string, string>>;
  /** Sends a made-up notification past the queue; `device`: to this one alone. */
  test(record: ChannelRecord, by: Actor, device?: string): Promise<ChannelTest>;
  readonly push: PushService;
  /** There may be something to deliver, for this tenant or for any. */
  wake(tenant?: TenantId): void;
  /** Holds the queue to its bounds. */
  trim(signal: AbortSignal): Promise<void>;
  /** Lets attempts under way end for a moment, and makes no others. */
  stop(): Promise<void>;
}

/** A channel as the API returns it. */
export function channelView(record: ChannelRecord, pending: number, now: number): Channel {
  const { health } = record;
  const time = (at: number | null) => (at === null ? null : iso(at));
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
      failingSince: time(health.failingSince),
      retryAt: health.retryAt > now ? iso(health.retryAt) : null,
      lastDeliveredAt: time(health.lastDeliveredAt),
      lastError: health.lastError,
    },
  };
}

/** A delivery as the API returns it. */
export function deliveryView(delivery: Delivery, channelName: string, title: string | null): ChannelDelivery {
  const { channel, notification, state, attempts, queuedAt, finishedAt, answer } = delivery;
  return {
    channel: { id: channel, name: channelName },
    ...{ notification, title, state, attempts, answer },
    queuedAt: iso(queuedAt),
    finishedAt: finishedAt === null ? null : iso(finishedAt),
  };
}
