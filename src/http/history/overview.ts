import { LRUCache, type Perf } from 'lru-cache';
import { limits } from '#contract/limits.ts';
import type { CountBucket } from '#contract/overview.ts';
import { Overview } from '#contract/overview.ts';
import { iso } from '#core/iso-time.ts';
import type { TenantId } from '#core/ports.ts';
import type { LevelCount } from '#core/statistics.ts';
import { route } from '../route-schemas.ts';
import type { App, Services } from '../services.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
const minutesShown = 60;
const hostsShown = 10;
/** How long what is counted is cached, so that its cost does not grow with the number of open pages. */
const cacheMs = 2_000;

/** GET /api/overview: a summary of a tenant's current state. */
export function overviewRoutes(app: App, services: Services): void {
  const { metrics, now } = services;
  const cached = createReadCache((tenant) => countHistory(services, tenant), cacheMs);

  app.get(
    '/api/overview',
    route('viewer', {
      summary:
        'The state of the tenant: the last hour by minute, panels, rejections, the busiest hosts, live notifications',
      description: 'What is counted in history is up to two seconds old.',
      response: { 200: Overview },
    }),
    async ({ principal: { tenant } }) => {
      const at = now();
      const [{ minutes, ...counted }, panels, rejections] = await Promise.all([
        cached.forceFetch(tenant),
        panelCounts(services, tenant),
        metrics.of(tenant).rejections(),
      ]);
      return {
        serverTime: iso(at),
        minutes: lastHour(minutes, at),
        ...counted,
        panels,
        rejections: rejections.sort((a, b) => b.count - a.count),
        countedSince: iso(metrics.since),
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

function lastHour(minutes: readonly LevelCount[], at: number): CountBucket[] {
  const first = Math.floor(at / minuteMs) - minutesShown + 1;
  const buckets = Array.from({ length: minutesShown }, (_, i) => ({
    at: iso((first + i) * minuteMs),
    counts: {} as Record<string, number>,
  }));
  for (const { bucket, level, count } of minutes) {
    const found = buckets[bucket - first];
    if (found) found.counts[level] = count;
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

/** What the overview shows of history; `minutes`: those of the last day in which something was received, by their number. */
async function countHistory({ statistics, now }: Services, tenant: TenantId) {
  const at = now();
  const options = { now: at, timeoutMs: limits.searchMs };
  const day = {
    after: Math.ceil((at - dayMs) / minuteMs) * minuteMs,
    before: Number.MAX_SAFE_INTEGER,
    origin: 0,
    bucketMs: minuteMs,
  };
  const everything = { ...day, after: 0, bucketMs: Number.MAX_SAFE_INTEGER };
  const [minutes, live, hosts] = await Promise.all([
    statistics.count(tenant, { kind: 'all' }, day, options),
    statistics.count(tenant, { kind: 'is', states: ['live'] }, everything, options),
    statistics.busiestHosts(tenant, at - dayMs, hostsShown),
  ]);
  return {
    minutes: minutes.counts,
    received24h: minutes.counts.reduce((sum, { count }) => sum + count, 0),
    live: Object.fromEntries(live.counts.map(({ level, count }) => [level, count])),
    topHosts: hosts.map((host) => ({ ...host })),
  };
}
