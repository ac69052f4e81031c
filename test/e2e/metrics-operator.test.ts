import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fieldNames } from '#contract/history/fields.ts';
import { roleOf, scopeOf } from '#core/people/access.ts';
import { serializerOf, validatorOf } from '#http/openapi/lazy-compilers.ts';
import { version } from '#server/version.ts';
import { freePort } from '../support/free-port.ts';
import { TestServer } from '../support/server.ts';
import { testStore } from '../support/test-store.ts';
import { readExposition, samplesOf } from './metrics-format.ts';
import { pages } from './tenants-recipes.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.stop());

test('/metrics is not there unless it has a token or a listener of its own', async () => {
  expect((await server.call('GET', '/metrics')).status).toBe(404);
});

test('/metrics opens to its token alone, on its own listener to all, and tells of the server and of no tenant', async () => {
  const port = await freePort();
  const own = await TestServer.start({
    BELFRY_METRICS_TOKEN: 'operators-only',
    BELFRY_METRICS_PORT: String(port),
  });
  const token = await own.token({ tenant: 'canary' });
  await own.notify(token, { title: 'canary', message: 'canary', level: 'canary' });
  for (const other of [undefined, 'operators-onl', 'operators-only2', token, await own.key('owner')]) {
    expect((await own.call('GET', '/metrics', { token: other })).status).toBe(401);
  }
  const { status, text, headers } = await own.call('GET', '/metrics', { token: 'operators-only' });
  expect(status).toBe(200);
  const apart = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect(apart.status).toBe(200);
  for (const [each, type] of [
    [text, headers.get('content-type')],
    [await apart.text(), apart.headers.get('content-type')],
  ] as const) {
    expect(type).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(each).not.toContain('canary');
    const samples = samplesOf(readExposition(each));
    expect(samples).toMatchObject({ belfry_ready: 1, belfry_write_queue: expect.any(Number) });
    expect(each).toContain(`belfry_build_info{version="${version}",commit=""} 1`);
    expect(samples.process_resident_memory_bytes).toBeGreaterThan(0);
  }
  const head = await fetch(`http://127.0.0.1:${port}/metrics`, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
  for (const path of ['/', '/tenant-metrics', '/healthz', '/api/history']) {
    const other = await fetch(`http://127.0.0.1:${port}${path}`);
    expect([path, other.status, Object.keys((await other.json()) as object)]).toEqual([path, 404, ['error']]);
  }
  await own.stop();
});

test('a server is alive and ready, and says which build it is', async () => {
  const alive = await server.call('GET', '/healthz');
  expect([alive.status, alive.json]).toEqual([200, { ok: true, version }]);
  const ready = await server.call('GET', '/readyz');
  expect([ready.status, ready.json]).toEqual([200, { ok: true }]);
});

test.skipIf(testStore === 'postgres')(
  'without room on the disk it is alive, not ready, takes nothing, says so, and still reads',
  async () => {
    const before = await TestServer.start();
    const [token, key] = [await before.token(), await before.key('viewer')];
    await before.stop({ keep: true });
    const env = { BELFRY_MIN_FREE_BYTES: '900TB', BELFRY_LOG_LEVEL: 'silent' };
    const full = await TestServer.start(env, before.folder);
    expect((await full.call('GET', '/healthz')).status).toBe(200);
    for (const answer of [
      await full.call('GET', '/readyz'),
      await full.notify(token, { title: 't', message: 'm' }),
    ]) {
      expect([answer.status, answer.json.error]).toEqual([503, expect.stringContaining('disk')]);
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/);
    }
    expect((await full.call('GET', '/api/history', { token: key })).json.notifications).toEqual([]);
    const metrics = await full.call('GET', '/tenant-metrics', { token });
    expect(metrics.text).toContain('belfry_notifications_rejected_total{reason="unavailable"} 1');
    await full.stop();
  },
);

interface Operation {
  readonly operationId: string;
  readonly responses: object;
  readonly summary?: string;
  readonly security?: readonly object[];
}
/** The document's operations as "GET /path". */
const operationsOf = (document: { paths: Record<string, Record<string, Operation>> }) =>
  new Map<string, Operation>(
    Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, each]) => [`${method.toUpperCase()} ${path}`, each] as const),
    ),
  );
const nameOf = ({ method, url }: { method: string; url: string }) =>
  `${method} ${url.replace(/:(\w+)/g, '{$1}')}`;

const errorAt = (name: string) =>
  name.includes(' /ntfy') ? 'NtfyError' : name.includes(' /gotify') ? 'GotifyError' : 'Error';

test('/openapi.json is valid OpenAPI, and describes every route but its own pages', async () => {
  const { json, headers } = await server.call('GET', '/openapi.json');
  expect(headers.get('content-type')).toMatch(/^application\/json/);
  const validator = new Validator();
  const result = await validator.validate(structuredClone(json));
  expect(result.errors).toBeUndefined();
  expect(result.valid).toBe(true);
  expect(validator.version).toBe('3.1');
  const operations = operationsOf(json);
  const routes = server.running.routes
    .filter(({ url }) => !/^\/(?:docs|assets|panel|push)\b/.test(url) && url !== '/openapi.json')
    .filter(({ url, method }) => !pages.includes(url) && method !== 'OPTIONS')
    .map(nameOf);
  expect([...operations.keys()].toSorted()).toEqual(routes.toSorted());
  const ids = new Set([...operations.values()].map(({ operationId }) => operationId));
  expect(ids.size).toBe(operations.size);
  for (const [name, { responses, summary, operationId, security }] of operations) {
    expect([name, summary, operationId]).toEqual([
      name,
      expect.stringMatching(/\w/),
      expect.stringMatching(/^[a-z][A-Za-z]+$/),
    ]);
    expect([name, security]).toEqual([name, expect.any(Array)]);
    expect([name, Object.keys(responses)]).toEqual([
      name,
      expect.arrayContaining([expect.stringMatching(/^[123]/), 'default']),
    ]);
    for (const [status, response] of Object.entries(responses)) {
      if (/^[123]/.test(status)) continue;
      expect(response).toEqual({
        description: expect.stringMatching(/\w/),
        headers: { 'Belfry-Error': { $ref: '#/components/headers/BelfryError' } },
        content: { 'application/json': { schema: { $ref: `#/components/schemas/${errorAt(name)}` } } },
      });
    }
  }
});

test('every schema of a route can be compiled, as it first is when a request needs it', () => {
  let compiled = 0;
  for (const { method, url, schema: { body, params, querystring, response = {} } = {} } of server.running
    .routes) {
    const answers = Object.values(
      response as Record<string, { content?: Record<string, { schema: object }> }>,
    );
    const written = answers.flatMap((each) =>
      each.content ? Object.values(each.content).map(({ schema }) => schema) : [each],
    );
    for (const schema of [body, params, querystring])
      if (schema !== undefined)
        expect(validatorOf(schema as object), `${method} ${url}`).toBeTypeOf('function');
    for (const schema of written) expect(serializerOf(schema), `${method} ${url}`).toBeTypeOf('function');
    compiled += written.length;
  }
  expect(compiled).toBeGreaterThan(100);
});

test('the schemas of /openapi.json are named, and a client that sends headers alone can be generated from it', async () => {
  const { json } = await server.call('GET', '/openapi.json');
  const bodies = (JSON.stringify(json.paths).match(/"application\/json":\{"schema":\{[^}]*/g) ?? []).filter(
    // Metrics as JSON have no schema.
    (body) => !body.endsWith('{'),
  );
  expect(bodies.length).toBeGreaterThan(100);
  for (const body of bodies) expect(body).toContain('"$ref":"#/components/schemas/');
  expect(JSON.stringify(json.components.schemas)).not.toMatch(/"title":"/);
  const { requestBody, parameters } = json.paths['/api/notify'].post;
  expect(requestBody.required).toBe(false);
  expect(json.components.schemas.NotifyBody.required).toBeUndefined();
  // One for each field, and Idempotency-Key.
  expect(parameters.filter((each: { in: string }) => each.in === 'header')).toHaveLength(
    fieldNames.length + 1,
  );
  expect(parameters).toContainEqual(expect.objectContaining({ name: 'X-Title', required: false }));
});

test('no schema has a name that generators make of an operation, and numbers of a query are integers', async () => {
  const { json } = await server.call('GET', '/openapi.json');
  const names = new Set(Object.keys(json.components.schemas).map((name) => name.toLowerCase()));
  // As oapi-codegen declares them for Go.
  for (const { operationId } of operationsOf(json).values())
    for (const suffix of ['Response', 'Params', 'JSONBody', 'JSONRequestBody'])
      expect(names).not.toContain(`${operationId}${suffix}`.toLowerCase());
  for (const name of ['Client', 'ClientInterface', 'ClientOption', 'ClientWithResponses', 'RequestEditorFn'])
    expect(names).not.toContain(name.toLowerCase());
  const parameterOf = (path: string, wanted: string) =>
    json.paths[path].get.parameters.find(({ name }: { name: string }) => name === wanted);
  expect(parameterOf('/api/history', 'limit')).toMatchObject({
    required: false,
    schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
  });
  for (const [path, name] of [
    ['/api/audit', 'limit'],
    ['/api/channels/{id}/deliveries', 'limit'],
    ['/api/history/histogram', 'buckets'],
  ] as const)
    expect(parameterOf(path, name).schema.type, `${path} ${name}`).toBe('integer');
  expect(JSON.stringify(json)).not.toContain('describedAs');
});

test('what a route asks for is what its description says', async () => {
  const operations = operationsOf((await server.call('GET', '/openapi.json')).json);
  for (const { method, url, policy } of server.running.routes) {
    const operation = operations.get(nameOf({ method, url }));
    if (!operation) continue;
    const documented = (operation.security ?? []).flatMap((each) => Object.keys(each)).toSorted();
    const required = {
      public: [],
      person: ['session'],
      proven: ['session'],
      other: [...(roleOf(policy) ? ['key', 'session'] : []), ...(scopeOf(policy) ? ['token'] : [])],
    }[typeof policy === 'string' ? policy : 'other'];
    expect([method, url, documented]).toEqual([method, url, required]);
    if (policy !== 'public')
      expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['401', '403']));
  }
});
