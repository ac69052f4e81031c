/**
 * Metrics for operators, and spans of requests (`tracing.ts`). Both are interfaces that the core calls; without a tracer no span
 * costs anything.
 */
import { Counter, Histogram, Registry } from 'prom-client';
import { type RejectionReason, rejectionReasons } from '#contract/history/search.ts';
import type { TenantId } from '../log/route.ts';
import { getOrMake } from '../maps.ts';

const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const latencyBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * The limit that refused a request: the notification rate of a token or of the tenant, the rate of other requests (`api`),
 * or the number of expensive requests at the same time (`concurrency`).
 */
const limitScopes = ['token', 'tenant', 'api', 'concurrency'] as const;
type LimitScope = (typeof limitScopes)[number];

/** One tenant's counters since the process started. */
export interface TenantMetrics {
  readonly registry: Registry;
  received(level: string): void;
  /** Removes the series of a deleted level. */
  forgetLevel(level: string): void;
  rejected(reason: RejectionReason): void;
  /** Refused notifications by reason, without the reasons that have none. */
  rejections(): Promise<{ readonly reason: RejectionReason; readonly count: number }[]>;
  unrouted(): void;
  muted(): void;
  rateLimited(scope: LimitScope): void;
  /** The tenant has the most expectations allowed. */
  notExpected(): void;
  leftThroughChannel(outcome: 'delivered' | 'failed', count: number): void;
  delivered(outcome: 'sent' | 'shown' | 'expired' | 'cleared', count: number): void;
  /** Seconds from accepting a notification to the panel's `shown` receipt. */
  shownAfter(seconds: number): void;
  /** Seconds from the head of an intake request to its answer. */
  answeredAfter(seconds: number): void;
}

/** A registry for each tenant, so that a tenant's metrics never include those of another. */
export class Metrics {
  /** Notifications refused because of overload, before authentication; so they have no tenant. */
  readonly overload = new Counter({
    name: 'belfry_overload_refused_total',
    help: 'Notifications refused because those taken before waited too long.',
    registers: [],
  });
  /** Messages that came by another protocol than HTTP; some are refused before their tenant is known. */
  readonly listened = new Counter({
    name: 'belfry_listener_messages_total',
    help: 'Messages by syslog and SMTP: stored, refused, or dropped because too many came.',
    labelNames: ['listener', 'result'],
    registers: [],
  });
  /** When the counters started at 0, in Unix milliseconds. */
  readonly since: number;
  readonly #byTenant = new Map<TenantId, TenantMetrics>();

  constructor(since: number) {
    this.since = since;
  }

  of(tenant: TenantId): TenantMetrics {
    return getOrMake(this.#byTenant, tenant, createTenantMetrics);
  }
}

function createTenantMetrics(): TenantMetrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `belfry_${name}`, help, labelNames, registers });
  const histogram = (name: string, help: string, buckets: number[]) =>
    new Histogram({ name: `belfry_${name}`, help, buckets, registers });
  const received = counter(
    'notifications_received_total',
    'Notifications accepted, by the level they were sent with.',
    ['level'],
  );
  const rejected = counter('notifications_rejected_total', 'Notifications refused, by reason.', ['reason']);
  const unrouted = counter('notifications_unrouted_total', 'Notifications that routing sent to no panel.');
  const muted = counter('notifications_muted_total', 'Notifications that a rule muted.');
  const limited = counter('rate_limited_total', 'Refusals by a rate limit, by the limit that was reached.', [
    'scope',
  ]);
  const deliveries = counter(
    'deliveries_total',
    'Notifications written to panels (sent), and what panels reported of them.',
    ['outcome'],
  );
  const channelDeliveries = counter(
    'channel_deliveries_total',
    'Notifications that channels delivered, and those that they gave up.',
    ['outcome'],
  );
  const notExpected = counter(
    'attention_refused_total',
    'Expectations that there was no room for: the notification was stored without.',
    ['kind'],
  );
  const latency = histogram(
    'delivery_latency_seconds',
    "From accepting a notification to a panel's receipt for showing it.",
    latencyBuckets,
  );
  const duration = histogram(
    'intake_duration_seconds',
    'From the request to its answer, durable storage included.',
    durationBuckets,
  );
  // Prometheus sees the first increase of a series only if the series existed before, with the value 0.
  for (const reason of rejectionReasons) rejected.inc({ reason }, 0);
  for (const outcome of ['sent', 'shown', 'expired', 'cleared']) deliveries.inc({ outcome }, 0);
  for (const outcome of ['delivered', 'failed']) channelDeliveries.inc({ outcome }, 0);
  notExpected.inc({ kind: 'expectation' }, 0);
  for (const scope of limitScopes) limited.inc({ scope }, 0);
  const ofLevel = new Map<string, { inc(): void }>();
  return {
    registry,
    // Cached, because the library sorts and joins the labels on each call.
    received: (level) => getOrMake(ofLevel, level, () => received.labels(level)).inc(),
    forgetLevel: (level) => {
      ofLevel.delete(level);
      received.remove(level);
    },
    rejected: (reason) => rejected.inc({ reason }),
    rejections: async () => {
      const { values } = await rejected.get();
      const countOf = (reason: RejectionReason) =>
        values.find(({ labels }) => labels.reason === reason)?.value ?? 0;
      return rejectionReasons
        .map((reason) => ({ reason, count: countOf(reason) }))
        .filter(({ count }) => count > 0);
    },
    unrouted: () => unrouted.inc(),
    muted: () => muted.inc(),
    rateLimited: (scope) => limited.inc({ scope }),
    notExpected: () => notExpected.inc({ kind: 'expectation' }),
    leftThroughChannel: (outcome, count) => channelDeliveries.inc({ outcome }, count),
    delivered: (outcome, count) => deliveries.inc({ outcome }, count),
    shownAfter: (seconds) => latency.observe(seconds),
    answeredAfter: (seconds) => duration.observe(seconds),
  };
}
