/** Sends the queued deliveries: in order on each channel, several channels at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '#contract/backoff.ts';
import type { AlarmEvent } from '#contract/channels/channel-fields.ts';
import {
  type ChannelRecord,
  type Channels,
  type Delivery,
  type DeliveryQueue,
  type DeliveryResult,
  longestPauseMs,
  type WaitingChannel,
} from '#core/channels/channels.ts';
import { coalesced } from '#core/limits/concurrency.ts';
import type { Entry, History, HistoryRecord } from '#core/log/log.ts';
import type { TenantId } from '#core/log/route.ts';
import type { SendResult } from './message.ts';

/** The most channels served in parallel, on this node and of one tenant. */
const runsAtOnce = 64;
const runsOfTenant = 8;
const retry = { baseMs: 2_000, capMs: 10 * 60_000 };
/** The pause after an error of this server itself, such as an unavailable database. */
const errorPauseMs = 5_000;
/** A run ends after this many deliveries or this long, because other channels may be waiting. */
const deliveriesOfRun = 50;
const runMs = 20_000;
/** The most attempts at a message that is refused while its channel is failing, because the channel may be the cause. */
const refusedAttempts = 4;
/** The shortest pause between two scans that a timer starts. */
const shortestPauseMs = 100;
/** With more tenants than this, a scan covers all tenants. */
const tenantsInScan = 100;

/** What happened to the alarm of a notification. */
export interface Happened {
  readonly event: AlarmEvent;
  readonly entry: Exclude<Entry, { kind: 'notification' }>;
  /** As the delivery of the notification has it. */
  readonly reference: string | null;
}

export interface DispatcherOptions {
  readonly queue: DeliveryQueue;
  readonly channels: Pick<Channels, 'find'>;
  readonly history: Pick<History, 'find' | 'readAfter'>;
  readonly send: (
    channel: ChannelRecord,
    notification: HistoryRecord,
    signal: AbortSignal,
    happened?: Happened,
  ) => Promise<SendResult>;
  readonly now: () => number;
  readonly onFinished: (tenant: TenantId, state: 'delivered' | 'failed', count: number) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * A channel that fails rests, longer with each failure, and is then tried with its oldest notification alone: while it
 * fails, nothing else is sent to it. A message that is refused by a channel that works fails at once. What has waited for a day is
 * given up by `DeliveryQueue.trim`.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  /** By tenant and channel. */
  readonly #runs = new Map<string, { readonly tenant: TenantId; readonly ended: Promise<void> }>();
  readonly #stopping = new AbortController();
  readonly #aborting = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  /** The tenants that the next scan covers. */
  #tenants = new Set<TenantId>();
  #all = false;
  /** A channel was ready but found no free run, so the end of a run must scan all tenants. */
  #skippedReady = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** Scans for pending deliveries, of this tenant or of all. Calls during a scan start one more after it. */
  wake(tenant?: TenantId): void {
    if (tenant === undefined || this.#tenants.size >= tenantsInScan) this.#all = true;
    else this.#tenants.add(tenant);
    void this.#scanSoon();
  }

  readonly #scanSoon = coalesced(async () => {
    const tenants = this.#all ? undefined : [...this.#tenants];
    this.#all = false;
    this.#tenants.clear();
    try {
      await this.#scan(tenants);
    } catch (error) {
      this.#options.onError(error);
      this.#wakeAt(this.#options.now() + errorPauseMs);
    }
  });

  /** Current attempts may finish within `graceMs`. Then they are aborted, and repeated after the next start. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    const timer = setTimeout(() => this.#aborting.abort(), graceMs);
    await Promise.all([...this.#runs.values()].map(({ ended }) => ended));
    clearTimeout(timer);
  }

  async #scan(tenants: readonly TenantId[] | undefined): Promise<void> {
    const { queue, now } = this.#options;
    if (this.#stopping.signal.aborted || tenants?.length === 0) return;
    if (!tenants) this.#skippedReady = false;
    const waiting = await queue.waiting(now(), tenants);
    const at = now();
    for (const each of waiting) {
      if (this.#runs.has(nameOf(each))) continue;
      if (each.readyAt > at) {
        // The first channel that must wait: they are sorted by time.
        this.#wakeAt(each.readyAt);
        return;
      }
      if (this.#hasRoom(each.tenant)) this.#start(each);
      else this.#skippedReady = true;
    }
  }

  #hasRoom(tenant: TenantId): boolean {
    const own = [...this.#runs.values()].filter((run) => run.tenant === tenant);
    return this.#runs.size < runsAtOnce && own.length < runsOfTenant;
  }

  /** A timer that fires sooner stays: its scan sets the next one. */
  #wakeAt(at: number): void {
    if (this.#stopping.signal.aborted || this.#timerAt <= at) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    const ms = Math.max(shortestPauseMs, at - this.#options.now());
    this.#timer = setTimeout(() => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      this.wake();
    }, ms).unref();
  }

  #start(channel: WaitingChannel): void {
    const ended = this.#run(channel)
      .catch(async (error: unknown) => {
        this.#options.onError(error);
        await sleep(errorPauseMs, undefined, { ref: false, signal: this.#stopping.signal }).catch(
          () => undefined,
        );
      })
      .then(() => {
        this.#runs.delete(nameOf(channel));
        // A delivery may have been queued between the last scan and the release.
        this.wake(this.#skippedReady ? undefined : channel.tenant);
      });
    this.#runs.set(nameOf(channel), { tenant: channel.tenant, ended });
  }

  async #run({ tenant, id }: WaitingChannel): Promise<void> {
    const { queue, now } = this.#options;
    if (!(await queue.claim(tenant, id, now()))) return;
    const until = now() + runMs;
    let isHeld = true;
    try {
      for (let count = 0; count < deliveriesOfRun && now() < until; count += 1) {
        const delivery = this.#stopping.signal.aborted ? undefined : await queue.next(tenant, id);
        const outcome = delivery && (await this.#deliver(tenant, delivery));
        isHeld = outcome !== 'given up';
        if (outcome !== 'next') return;
      }
    } finally {
      if (isHeld) await queue.release(tenant, id, now());
    }
  }

  /** Returns whether the next delivery may follow, or what happened to the lease. */
  async #deliver(tenant: TenantId, delivery: Delivery): Promise<'next' | 'given up' | 'held'> {
    const { queue, channels, history, send, onFinished, now } = this.#options;
    const finish = async (result: DeliveryResult) => {
      onFinished(tenant, result.state, 1);
      return (await queue.finish(tenant, delivery, result, now())) ? 'next' : 'given up';
    };
    const [channel, notification] = await Promise.all([
      channels.find(tenant, delivery.channel),
      history.find(tenant, delivery.notification),
    ]);
    if (!channel?.enabled) return 'held';
    if (!notification) return finish({ state: 'failed', answer: 'history no longer has the notification' });
    const happened = await this.#happened(tenant, delivery);
    if (typeof happened === 'string') return finish({ state: 'failed', answer: happened });
    const { signal } = this.#aborting;
    const result = await send(channel, notification, signal, happened);
    const { outcome, answer, retryAfterMs = 0, isFinal = false, reference } = result;
    if (outcome === 'delivered') return finish({ state: 'delivered', answer, reference });
    if (signal.aborted) return 'held';
    const { failures } = channel.health;
    if (outcome === 'failed' && (isFinal || failures === 0 || delivery.attempts + 1 >= refusedAttempts))
      // That a message cannot be changed any more says nothing about the channel.
      return finish({ state: 'failed', answer, isRefused: happened === undefined });
    const pauseMs = Math.min(longestPauseMs, Math.max(retryAfterMs, backoffMs(failures, retry)));
    const retryAt = now() + pauseMs;
    await queue.retry(tenant, delivery, { answer, retryAt, updatedAt: channel.updatedAt }, now());
    return 'given up';
  }

  /** undefined for a delivery of the notification itself; a text says why it cannot be sent. */
  async #happened(
    tenant: TenantId,
    { channel, notification, event, position }: Delivery,
  ): Promise<Happened | string | undefined> {
    if (event === null) return undefined;
    const { queue, history } = this.#options;
    const [page, all] = await Promise.all([
      history.readAfter(tenant, position - 1, 1),
      queue.listByNotification(tenant, notification),
    ]);
    const [entry] = page.entries;
    if (entry?.position !== position || entry.kind === 'notification')
      return 'history no longer has what happened';
    const own = all.find((each) => each.channel === channel && each.event === null);
    if (own?.state === 'failed') return 'its notification was not delivered';
    return { event, entry, reference: own?.reference ?? null };
  }
}

const nameOf = ({ tenant, id }: WaitingChannel) => `${tenant} ${id}`;
