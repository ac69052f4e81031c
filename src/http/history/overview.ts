import { LRUCache, type Perf } from 'lru-cache';
import { limits } from '#contract/limits.ts';
import type { CountBucket } from '#contract/overview.ts';
import { Overview } from '#contract/overview.ts';
import { iso } from '#core/iso-time.ts';
import type { TenantId } from '#core/ports.ts';
import type { MinuteCount } from '#core/statistics.ts';
import { route } from '../route-schemas.ts';
import type { App, Services } from '../services.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
const minutesShown = 60;
const hostsShown = 10;
/** How long expensive statistics are cached, so that their cost does not grow with the number of open pages. */
const cacheMs = 4_000;

/** GET /api/overview: a summary of a tenant's current state. */
export function overviewRoutes(app: App, services: Services): void {
  const { statistics, metrics, now } = services;
  const cached = createReadCache((tenant) => expensiveStatistics(services, tenant), cacheMs);

  app.get(
    '/api/overview',
    route('viewer', {
      summary:
        'The state of the tenant: the last hour by minute, panels, rejections, the busiest hosts, live notifications',
      description: 'The busiest hosts and the live notifications are up to four seconds old.',
      response: { 200: Overview },
    }),
    async ({ principal: { tenant } }) => {
      const at = now();
      const firstMinute = (Math.floor(at / minuteMs) - minutesShown + 1) * minuteMs;
      const [minutes, panels, rejections, { topHosts, live }] = await Promise.all([
        statistics.minutes(tenant, at - dayMs),
        panelCounts(services, tenant),
        metrics.of(tenant).rejections(),
        cached.forceFetch(tenant),
      ]);
      return {
        serverTime: iso(at),
        minutes: minuteBuckets(minutes, firstMinute),
        received24h: minutes.reduce((sum, { count }) => sum + count, 0),
        panels,
        rejections: rejections.sort((a, b) => b.count - a.count),
        countedSince: iso(metrics.since),
        topHosts,
        live,
      };
    },
  );
}

/** Caches a value per tenant for `ttlMs`. Concurrent callers share one read. A failed read is not cached. */
export function createReadCache<T extends object>(
  read: (tenant: TenantId) => Promise<T>,
  ttlMs: number,
  perf: Perf = performance,
): LRUCache<TenantId, T> {
  return new LRUCache({ max: 1_000, ttl: ttlMs, ttlResolution: 0, fetchMethod: read, perf });
}

function minuteBuckets(counts: readonly MinuteCount[], first: number): CountBucket[] {
  const buckets = Array.from({ length: minutesShown }, (_, i) => ({
    at: iso(first + i * minuteMs),
    counts: {} as Record<string, number>,
  }));
  for (const { at, level, count } of counts) {
    const bucket = buckets[(at - first) / minuteMs];
    if (bucket) bucket.counts[level] = count;
  }
  return buckets;
}

async function panelCounts({ tenancy, presence }: Services, tenant: TenantId): Promise<Overview['panels']> {
  const [{ panels }, { panels: connected }] = await Promise.all([
    tenancy.get(tenant),
    presence.online(tenant),
  ]);
  const behind = [...connected.values()].filter(({ lag }) => lag > 0).length;
  return { online: connected.size, total: panels.size, behind };
}

async function expensiveStatistics(
  { statistics, now }: Services,
  tenant: TenantId,
): Promise<Pick<Overview, 'topHosts' | 'live'>> {
  const at = now();
  const everything = {
    after: 0,
    before: Number.MAX_SAFE_INTEGER,
    origin: 0,
    bucketMs: Number.MAX_SAFE_INTEGER,
  };
  const [hosts, { counts }] = await Promise.all([
    statistics.busiestHosts(tenant, at - dayMs, hostsShown),
    statistics.count(tenant, { kind: 'is', states: ['live'] }, everything, {
      now: at,
      timeoutMs: limits.searchMs,
    }),
  ]);
  return {
    topHosts: hosts.map((host) => ({ ...host })),
    live: Object.fromEntries(counts.map(({ level, count }) => [level, count])),
  };
}
