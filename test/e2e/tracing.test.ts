/** Traces, as an OpenTelemetry collector gets them: OTLP over HTTP in JSON. */
import { globSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readTraceparent } from '#core/observability/tracing.ts';
import { TestServer } from '../support/server.ts';
import { root } from '../support/server-process.ts';

interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
  readonly status: { readonly code?: number };
}
interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: CollectedSpan['attributes'] };
    readonly scopeSpans: readonly { readonly spans: readonly CollectedSpan[] }[];
  }[];
}

const exports: { path: string; key: unknown; body: Export }[] = [];
let collector: Server;
let server: TestServer;
const caller = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const traceparent = `00-${caller.traceId}-${caller.spanId}-01`;

/** Everything is sent by the time that the server has stopped. */
beforeAll(async () => {
  collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Export;
      exports.push({ path: request.url ?? '', key: request.headers['x-key'], body });
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  server = await TestServer.start({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b',
    OTEL_SERVICE_NAME: 'belfry-1',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,host.name=web%2C1',
  });
  const token = await server.token();
  const key = await server.key('viewer');
  const { stream } = await server.panel(token, 'lobby');
  // The first request goes through the framework, the others do not.
  await server.notify(token, { title: 'Secret words', message: 'M' });
  await server.notify(token, { title: 'T', message: 'M' }, { traceparent });
  await stream.next(({ event, data }) => event === 'notification' && data.title === 'T');
  await server.notify(token, { title: 'T', message: 'M' }, { traceparent: traceparent.replace(/01$/, '00') });
  await server.notify(token, { title: '' }, { traceparent: 'nonsense' });
  await server.call('GET', '/api/history?q=t', { token: key, headers: { traceparent } });
  const inUrl = await server.token({ scopes: ['notify'], allowInUrl: true });
  await server.call('GET', `/api/notify/send?title=Secret%20words&message=M&token=${inUrl}`);
  for (const path of ['/healthz', '/readyz']) await server.call('GET', path);
  stream.close();
  await server.stop();
});
afterAll(() => collector?.close());

const spans = () =>
  exports.flatMap(({ body }) =>
    body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((each) => each.spans)),
  );
const named = (name: string) => spans().filter((span) => span.name === name);
const attributeOf = ({ attributes }: Pick<CollectedSpan, 'attributes'>, key: string) =>
  Object.values(attributes.find((each) => each.key === key)?.value ?? {})[0];

test('a notification is a span below that of its caller, with one for each of its parts', () => {
  const request = named('POST /api/notify').find(({ traceId }) => traceId === caller.traceId);
  expect(request).toMatchObject({ parentSpanId: caller.spanId, kind: 2, status: {} });
  expect(request && attributeOf(request, 'http.response.status_code')).toBe('200');
  const parts = spans().filter(({ parentSpanId }) => parentSpanId === request?.spanId);
  expect(parts.map(({ name }) => name)).toEqual(['parse', 'route', 'append']);
  for (const { startTimeUnixNano, endTimeUnixNano } of parts) {
    expect(BigInt(startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(request?.startTimeUnixNano ?? 0));
    expect(BigInt(endTimeUnixNano)).toBeLessThanOrEqual(BigInt(request?.endTimeUnixNano ?? 0));
  }
  expect(Number(BigInt(request?.endTimeUnixNano ?? 0) / 1_000_000n)).toBeGreaterThan(Date.now() - 600_000);
});

test('a caller that does not sample is not traced, and one whose header is not valid begins a trace of its own', () => {
  const requests = named('POST /api/notify');
  expect(requests.length).toBe(3);
  const refused = requests.find((span) => attributeOf(span, 'http.response.status_code') === '400');
  expect(refused?.parentSpanId).toBeUndefined();
  expect(new Set(requests.map(({ traceId }) => traceId)).size).toBe(3);
});

test('searches, opened streams and flushes to panels have spans', () => {
  const [search] = named('search');
  const [request] = named('GET /api/history');
  expect(search?.parentSpanId).toBe(request?.spanId);
  expect(request?.parentSpanId).toBe(caller.spanId);
  expect(named('stream open').length).toBe(1);
  expect(named('flush').map((span) => attributeOf(span, 'belfry.streams'))).toContain('1');
});

test('a notification that is sent with GET is one span, and its token is in none', () => {
  const [request, ...more] = named('GET /api/notify/send');
  expect([request && attributeOf(request, 'http.response.status_code'), more]).toEqual(['200', []]);
  expect(JSON.stringify(exports)).not.toMatch(/bfy_|token=/);
});

test('health checks are not traced', () => {
  expect(spans().filter(({ name }) => /healthz|readyz/.test(name))).toEqual([]);
});

test('the collector learns who sends, and no word of a notification or a query', () => {
  expect(new Set(exports.map(({ path }) => path))).toEqual(new Set(['/v1/traces']));
  expect(exports[0]?.key).toBe('a b');
  const resource = exports[0]?.body.resourceSpans[0]?.resource;
  expect(resource && attributeOf(resource, 'service.name')).toBe('belfry-1');
  expect(resource && attributeOf(resource, 'host.name')).toBe('web,1');
  expect(resource && attributeOf(resource, 'service.instance.id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(JSON.stringify(exports)).not.toMatch(/Secret words|bfy_|bfk_|q=t/);
});

test('a collector that cannot be reached costs a line in the log, and nothing else', async () => {
  const alone = await TestServer.start({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
  const token = await alone.token();
  expect((await alone.notify(token, { title: 'T', message: 'M' })).status).toBe(200);
  await alone.stop();
});

test('without a collector nothing of it is loaded', () => {
  const importing = globSync('src/**/*.ts', { cwd: root, exclude: ['**/*.test.ts'] }).filter((file) =>
    /^import (?!type).*otlp-tracing/m.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(importing).toEqual([]);
});

test.each([
  [traceparent, true],
  [traceparent.replace(/^00/, 'cc').concat('-what-comes-later'), true],
  [traceparent.replace(/^00/, 'ff'), false],
  [`${traceparent}-more`, false],
  [traceparent.toUpperCase(), false],
  [`00-${'0'.repeat(32)}-${caller.spanId}-01`, false],
  [`00-${caller.traceId}-${'0'.repeat(16)}-01`, false],
  ['', false],
])('traceparent %s: %s', (text, isValid) => {
  expect(readTraceparent(text) !== undefined).toBe(isValid);
});
