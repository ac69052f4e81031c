/** Delivers what is queued for channels: in order on each, several channels at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '#contract/limits.ts';
import type { ChannelRecord, Channels, Delivery, DeliveryQueue, WaitingChannel } from '#core/channels.ts';
import { coalesced } from '#core/coalesced.ts';
import type { History, HistoryRecord, TenantId } from '#core/ports.ts';
import type { SendResult } from './message.ts';

/** Channels that are delivered to at once: of this node, and of one tenant. */
const runsAtOnce = 64;
const runsOfTenant = 8;
const firstRetryMs = 2_000;
const longestRetryMs = 10 * 60_000;
/** After an error of this server itself, as when the database is away. */
const errorPauseMs = 5_000;
/** Deliveries between two looks at the bounds of the queue. */
const trimEvery = 100;

export interface DispatcherOptions {
  readonly queue: DeliveryQueue;
  readonly channels: Pick<Channels, 'find'>;
  readonly history: Pick<History, 'find'>;
  readonly send: (
    channel: ChannelRecord,
    notification: HistoryRecord,
    signal: AbortSignal,
  ) => Promise<SendResult>;
  readonly now: () => number;
  /** From 0 to 1. */
  readonly random?: () => number;
  readonly onFinished: (tenant: TenantId, state: 'delivered' | 'failed', count: number) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * A channel that fails rests, longer with each failure, and is then tried with its oldest notification alone: while it
 * fails, nothing else is sent to it. A notification that has waited for a day fails.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  /** By tenant and channel. */
  readonly #runs = new Map<string, { readonly tenant: TenantId; readonly ended: Promise<void> }>();
  readonly #stopping = new AbortController();
  readonly #aborting = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** Looks for what there is to deliver; a call during a look begins one more after it. */
  readonly wake = coalesced(async () => {
    try {
      await this.#look();
    } catch (error) {
      this.#options.onError(error);
      this.#wakeIn(errorPauseMs);
    }
  });

  /** Attempts under way may end within `graceMs`; after that they are cut off, and made again at the next start. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    const timer = setTimeout(() => this.#aborting.abort(), graceMs);
    await Promise.all([...this.#runs.values()].map(({ ended }) => ended));
    clearTimeout(timer);
  }

  async #look(): Promise<void> {
    const { queue, now } = this.#options;
    if (this.#stopping.signal.aborted) return;
    const waiting = await queue.waiting(now());
    const at = now();
    for (const each of waiting) {
      if (this.#runs.has(nameOf(each))) continue;
      if (each.readyAt > at) {
        // The first of those that are to wait: they are in order.
        this.#wakeIn(each.readyAt - at);
        return;
      }
      // The end of a run looks again.
      if (this.#hasRoom(each.tenant)) this.#start(each);
    }
  }

  #hasRoom(tenant: TenantId): boolean {
    const own = [...this.#runs.values()].filter((run) => run.tenant === tenant);
    return this.#runs.size < runsAtOnce && own.length < runsOfTenant;
  }

  #wakeIn(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#stopping.signal.aborted) return;
    this.#timer = setTimeout(this.wake, ms).unref();
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
        // Another node may have queued something between the last look and the release.
        void this.wake();
      });
    this.#runs.set(nameOf(channel), { tenant: channel.tenant, ended });
  }

  async #run({ tenant, id }: WaitingChannel): Promise<void> {
    const { queue, now } = this.#options;
    if (!(await queue.claim(tenant, id, now()))) return;
    try {
      for (let count = 0; !this.#stopping.signal.aborted; count += 1) {
        if (count % trimEvery === 0) this.#count(tenant, 'failed', await queue.trim(tenant, id, now()));
        const delivery = await queue.next(tenant, id);
        if (!delivery || !(await this.#deliver(tenant, delivery))) return;
      }
    } finally {
      await queue.release(tenant, id);
    }
  }

  /** Answers whether the next one may follow. */
  async #deliver(tenant: TenantId, delivery: Delivery): Promise<boolean> {
    const { queue, channels, history, send, now } = this.#options;
    const fail = async (answer: string) => {
      this.#count(tenant, 'failed', 1);
      return queue.finish(tenant, delivery, { state: 'failed', answer }, now());
    };
    if (now() - delivery.queuedAt > limits.deliveryMs)
      return fail(
        `given up after 24 hours${delivery.answer === null ? '' : `; the last attempt: ${delivery.answer}`}`,
      );
    const [channel, notification] = await Promise.all([
      channels.find(tenant, delivery.channel),
      history.find(tenant, delivery.notification),
    ]);
    if (!channel?.enabled) return false;
    if (!notification) return fail('history no longer has the notification');
    const { signal } = this.#aborting;
    const { outcome, answer, retryAfterMs = 0 } = await send(channel, notification, signal);
    if (signal.aborted) return false;
    if (outcome === 'failed') return fail(answer);
    if (outcome === 'delivered') {
      this.#count(tenant, 'delivered', 1);
      return queue.finish(tenant, delivery, { state: 'delivered', answer }, now());
    }
    const waitMs = Math.max(retryAfterMs, this.#backOffMs(channel.health.failures));
    await queue.retry(tenant, delivery, { answer, retryAt: now() + waitMs }, now());
    return false;
  }

  #count(tenant: TenantId, state: 'delivered' | 'failed', count: number): void {
    if (count > 0) this.#options.onFinished(tenant, state, count);
  }

  /** Between half of it and all of it, so that channels that failed together are not tried together. */
  #backOffMs(failures: number): number {
    const { random = Math.random } = this.#options;
    const most = Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(failures, 20));
    return Math.round(most * (0.5 + random() / 2));
  }
}

const nameOf = ({ tenant, id }: WaitingChannel) => `${tenant} ${id}`;
