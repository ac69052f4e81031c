/** What machines of the operator and of a tenant ask: health and metrics. */
import { timingSafeEqual } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { Type } from 'typebox';
import { errorHeader, formatErrorHeader } from '#contract/error-header.ts';
import { unauthorized, unavailable } from '#core/errors.ts';
import type { TenantId } from '#core/log/route.ts';
import { route } from './openapi/route-schemas.ts';
import type { App, Services } from './services.ts';

const text = {
  description: 'Prometheus text, OpenMetrics, or JSON',
  content: {
    'text/plain': { schema: Type.String() },
    'application/openmetrics-text': { schema: Type.String() },
    'application/json': { schema: Type.Unsafe<unknown>({}) },
  },
};

/** GET /tenant-metrics for a tenant's own metrics, and /metrics for the operator. */
export function metricsRoutes(app: App, services: Services): void {
  app.get(
    '/tenant-metrics',
    route('metrics', { summary: "The metrics of the token's tenant", response: { 200: text } }),
    async ({ principal, headers }, reply) => {
      const registries = [
        services.metrics.of(principal.tenant).registry,
        await tenantGauges(services, principal.tenant),
      ];
      reply.header('vary', 'Accept');
      return answer(registries, headers.accept, reply);
    },
  );
  const { metricsToken } = services.settings;
  if (metricsToken === undefined) return;
  const registry = serverRegistry(services);
  app.get(
    '/metrics',
    { config: { policy: 'public' }, schema: { hide: true } },
    async ({ headers }, reply) => {
      if (!sameText(headers.authorization ?? '', `Bearer ${metricsToken}`)) throw unauthorized();
      return answer([registry], headers.accept, reply);
    },
  );
}

type ServerMetricsOf = Pick<Services, 'storage' | 'tenantStreams' | 'metrics' | 'bus' | 'version' | 'commit'>;

/** Metrics of the server: process, event loop, write queue. No metric contains data of a tenant. */
function serverRegistry(services: ServerMetricsOf): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name: `belfry_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  new Gauge({
    name: 'belfry_build_info',
    help: 'Always 1; its labels say which build this is.',
    labelNames: ['version', 'commit'],
    registers: [registry],
  }).set({ version: services.version, commit: services.commit ?? '' }, 1);
  registry.registerMetric(services.metrics.overload);
  registry.registerMetric(services.metrics.listened);
  gauge('write_queue', 'Writes accepted and not yet durable.', () => services.storage.queueDepth());
  gauge('ready', '1 while notifications can be stored and panels be served.', () =>
    notReady(services) === undefined ? 1 : 0,
  );
  gauge('bus_connected', '1 while this node wakes the others; else they find what is new later.', () =>
    services.bus.problem() === undefined ? 1 : 0,
  );
  const { clockAheadMs, indexBacklog, freeBytes } = services.storage;
  if (freeBytes)
    gauge(
      'disk_free_bytes',
      'Free bytes on the disk of the database; below BELFRY_MIN_FREE_BYTES intake stops.',
      () => freeBytes() ?? Number.NaN,
    );
  if (clockAheadMs)
    gauge(
      'clock_ahead_seconds',
      "How far this node's clock is ahead of the database's; negative when it is behind.",
      () => clockAheadMs() / 1000,
    );
  if (indexBacklog)
    gauge(
      'index_backlog',
      'Entries of the log that are not indexed yet (all nodes report the same number); searches read them one by one.',
      indexBacklog,
    );
  return registry;
}

/** A tenant's gauges; each scrape reads their values. */
async function tenantGauges(
  { directory, deliveries, presence, history, tenancy, now }: Services,
  tenant: TenantId,
): Promise<Registry> {
  const registry = new Registry();
  const gauge = (name: string, help: string, values: Record<string, number> | number, label?: string) => {
    const made = new Gauge({
      name: `belfry_${name}`,
      help,
      labelNames: label ? [label] : [],
      registers: [registry],
    });
    if (typeof values === 'number') made.set(values);
    else for (const [value, count] of Object.entries(values)) made.set({ [label ?? '']: value }, count);
  };
  const [{ panels }, { panels: connected }, size, tokens, pending] = await Promise.all([
    tenancy.get(tenant),
    presence.online(tenant),
    history.size(tenant),
    directory.credentials.list(tenant, 'token'),
    deliveries.pending(tenant),
  ]);
  gauge(
    'panels',
    'Registered panels, by whether their stream is connected.',
    { online: connected.size, offline: panels.size - connected.size },
    'state',
  );
  const waiting = [...pending.values()].reduce((sum, count) => sum + count, 0);
  gauge('channel_deliveries_pending', 'Deliveries that wait for their channel.', waiting);
  gauge('history_notifications', 'Notifications that history holds.', size.notifications);
  gauge('history_bytes', 'What they take on disk, as an estimate.', size.bytes);
  const counts = { active: 0, expired: 0, revoked: 0 };
  for (const { revokedAt, expiresAt } of tokens) {
    counts[
      revokedAt !== null ? 'revoked' : expiresAt !== null && expiresAt <= now() ? 'expired' : 'active'
    ] += 1;
  }
  gauge('tokens', 'API tokens, by state.', counts, 'state');
  return registry;
}

async function answer(registries: Registry[], accept: string | undefined, reply: FastifyReply) {
  const merged = Registry.merge(registries);
  const wanted = acceptedType(accept);
  if (wanted === 'application/json')
    return reply
      .type('application/json; charset=utf-8')
      .send(JSON.stringify(await merged.getMetricsAsJSON()));
  const text = await merged.metrics();
  if (wanted === 'text/plain') return reply.type(merged.contentType).send(text);
  return reply.type(Registry.OPENMETRICS_CONTENT_TYPE).send(toOpenMetrics(text));
}

/** The first is sent if the request accepts all of them equally, or none. */
const types = ['text/plain', 'application/openmetrics-text', 'application/json'] as const;

/** The type with the highest q-value (RFC 9110, 12.5.1); of several, the one that is named, and the first of these. */
function acceptedType(accept = '*/*'): (typeof types)[number] {
  const ranges = accept.split(',').map((part, place) => {
    const [range = '', ...parameters] = part.split(';').map((each) => each.trim().toLowerCase());
    const q = Number(parameters.find((each) => each.startsWith('q='))?.slice(2) ?? 1);
    return { range, place, q, specificity: range === '*/*' ? 0 : range.endsWith('/*') ? 1 : 2 };
  });
  const rated = types.map((type) => {
    const matching = ranges.filter(
      ({ range }) => range === '*/*' || range === type || range === type.replace(/\/.*/, '/*'),
    );
    matching.sort((a, b) => b.specificity - a.specificity || b.q - a.q);
    return { type, ...(matching[0] ?? { place: 0, q: 0, specificity: 0 }) };
  });
  rated.sort((a, b) => b.q - a.q || b.specificity - a.specificity || a.place - b.place);
  return rated[0]?.type ?? types[0];
}

/**
 * Converts Prometheus text to OpenMetrics: removes `_total` from the names of counter families, removes blank lines, and adds
 * the end marker. The library's own conversion would rename the metric objects permanently.
 */
function toOpenMetrics(text: string): string {
  const counters = new Set(
    Array.from(text.matchAll(/^# TYPE (\S+)_total counter$/gm), ([, family]) => family),
  );
  const named = text.replace(/^(# (?:HELP|TYPE) )(\S+)_total /gm, (line, start: string, family: string) =>
    counters.has(family) ? `${start}${family} ` : line,
  );
  return `${named.replace(/\n+/g, '\n')}# EOF\n`;
}

function sameText(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}

const listenerNotFound = {
  'content-type': 'application/json; charset=utf-8',
  [errorHeader]: formatErrorHeader('not-found'),
};

/** Serves GET /metrics on a listener of its own; undefined when none is configured. */
export async function startMetricsListener(
  { host, port }: { readonly host: string; readonly port: number | undefined },
  services: ServerMetricsOf,
): Promise<{ close(): Promise<void> } | undefined> {
  if (port === undefined) return undefined;
  // A dynamic import, because the static import also loads fetch: 13 MiB that an idle server does not need.
  const { createServer } = await import('node:http');
  const registry = serverRegistry(services);
  const server = createServer(async (request, response) => {
    const found = ['GET', 'HEAD'].includes(request.method ?? '') && request.url?.split('?')[0] === '/metrics';
    if (found)
      response.writeHead(200, { 'content-type': registry.contentType }).end(await registry.metrics());
    else response.writeHead(404, listenerNotFound).end('{"error":"there is only GET /metrics here"}');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const Ready = Type.Object({ ok: Type.Literal(true) });
const Healthy = Type.Object({
  ok: Type.Literal(true),
  version: Type.String(),
  commit: Type.Optional(Type.String({ description: 'What the server was built from, if that is known.' })),
});

/** Liveness (the process answers) and readiness (it can take and keep notifications). */
export function healthRoutes(app: App, services: Services): void {
  const { version, commit } = services;
  app.get(
    '/healthz',
    route('public', {
      tags: ['operating'],
      summary: 'Whether the process answers',
      response: { 200: Healthy },
      rateLimit: 'none',
    }),
    async () => ({ ok: true as const, version, ...(commit !== undefined && { commit }) }),
  );
  app.get(
    '/readyz',
    route('public', {
      tags: ['operating'],
      summary: 'Whether notifications can be stored',
      response: { 200: Ready },
      rateLimit: 'none',
    }),
    async () => {
      const problem = notReady(services);
      if (problem !== undefined) throw unavailable(`not ready: ${problem}`);
      return { ok: true as const };
    },
  );
}

/** Why notifications cannot be stored or panels cannot be served; undefined if both work. */
function notReady({
  storage,
  tenantStreams,
}: Pick<Services, 'storage' | 'tenantStreams'>): string | undefined {
  return storage.problem() ?? (tenantStreams.draining ? 'the server is being stopped' : undefined);
}
