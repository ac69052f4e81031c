import { LRUCache, type Perf } from 'lru-cache';
import { Overview } from '#contract/history/search.ts';
import { limits } from '#contract/limits.ts';
import type { TenantId } from '#core/log/route.ts';
import { toBuckets } from '#core/log/statistics.ts';
import { onCallSummary } from '#core/on-call/on-call-setup.ts';
import { iso } from '#core/time/time.ts';
import { route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
const minutesShown = 60;
const hostsShown = 10;
const byMinute = { origin: 0, bucketMs: minuteMs };
/** How long counts are cached, so that their cost does not grow with the number of open pages. */
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
      const [{ minutes, ...counted }, panels, onCall, rejections] = await Promise.all([
        cached.forceFetch(tenant),
        panelCounts(services, tenant),
        onCallNow(services, tenant),
        metrics.of(tenant).rejections(),
      ]);
      return {
        serverTime: iso(at),
        minutes: toBuckets(minutes, byMinute, {
          first: Math.floor(at / minuteMs) - minutesShown + 1,
          length: minutesShown,
        }),
        ...counted,
        panels,
        onCall,
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

async function panelCounts({ tenancy, presence }: Services, tenant: TenantId): Promise<Overview['panels']> {
  const [{ panels }, { panels: connected }] = await Promise.all([
    tenancy.get(tenant),
    presence.online(tenant),
  ]);
  const behind = [...connected.values()].filter(({ lag }) => lag > 0).length;
  return { online: connected.size, total: panels.size, behind };
}

async function onCallNow({ tenancy, now }: Services, tenant: TenantId): Promise<Overview['onCall']> {
  const { onCall } = await tenancy.get(tenant);
  return [...onCall.values()].map((plan) => onCallSummary(plan, now()));
}

/** The overview's counts of history; `minutes`: the minutes of the last day with notifications, by their number. */
async function countHistory({ statistics, now }: Services, tenant: TenantId) {
  const at = now();
  const options = { now: at, timeoutMs: limits.searchMs };
  const day = {
    after: Math.ceil((at - dayMs) / minuteMs) * minuteMs,
    before: Number.MAX_SAFE_INTEGER,
    ...byMinute,
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
