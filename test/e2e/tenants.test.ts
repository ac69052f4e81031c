import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Policy, roleOf, scopeOf } from '#core/people/access.ts';
import { TestServer } from '../support/server.ts';
import { full } from '../torture/counts.ts';
import { createRecipes, pages, type Recipe, type Request } from './tenants-recipes.ts';
import { type Caller, createWorld, strangers, type World } from './tenants-world.ts';

let server: TestServer;
let worlds: World[];
let recipes: Record<string, Recipe>;
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_RATE_AUTH: 'off', BELFRY_RATE_TENANT: 'off' });
  worlds = [];
  for (const name of ['alpha', 'beta', 'gamma']) worlds.push(await createWorld(server, name));
  recipes = createRecipes(server);
});
afterAll(() => server.stop());

const routes = () =>
  server.running.routes.map((route) => ({ ...route, name: `${route.method} ${route.url}` }));
/** Whether the nth caller of a tenant asks the nth route: in the short form one of three, so that each kind of caller asks each. */
const takesPart = (route: number, caller: number, world: number) =>
  full || (route + caller + world) % worlds.length === 0;
const roles = ['viewer', 'member', 'admin', 'owner'];

/** What the declared policy makes of a caller. */
function expected(policy: Policy, { grant, person }: Caller): 'welcome' | 401 | 403 {
  if (policy === 'public') return 'welcome';
  if (!grant) return 401;
  if (policy === 'person' || policy === 'proven') return person ? 'welcome' : 403;
  const may =
    'scopes' in grant
      ? [policy.scope, policy.orScope].some((scope) => scope !== undefined && grant.scopes.includes(scope))
      : policy.role !== undefined && roles.indexOf(grant.role) >= roles.indexOf(policy.role);
  return may ? 'welcome' : 403;
}

interface Answer {
  readonly status: number;
  /** Body and headers. */
  readonly text: string;
}

/** Calls a route; of a stream it reads the first events. */
async function ask(
  method: string,
  { path, json, headers: own }: Request,
  { credential, headers: usual }: Caller,
  isStream = false,
): Promise<Answer> {
  const headers = own ?? usual;
  if (isStream) {
    const bearer = credential ?? (headers ? undefined : '');
    const stream = await server.stream(path, bearer, undefined, headers);
    if (stream.response.status === 200) {
      await stream.next(({ event }) => event === 'ready');
      if (path.includes('/panels/')) await stream.next(({ event }) => event === 'heartbeat');
    }
    stream.close();
    await stream.ended;
    return {
      status: stream.response.status,
      text: JSON.stringify([stream.messages, ...stream.response.headers]),
    };
  }
  const {
    status,
    text,
    headers: answered,
  } = await server.call(method, path, {
    token: credential,
    ...(headers && { headers }),
    ...(json !== undefined && { json }),
  });
  return { status, text: `${text} ${JSON.stringify([...answered])}` };
}

/** The names of the worlds whose canary is in a text. */
const canariesIn = (text: string) =>
  worlds.filter(({ canary }) => text.includes(canary)).map(({ name }) => name);

/** All that a tenant has, as its owner sees it; what only counts or notes the time is left out. */
async function everythingOf({ owner, token }: World): Promise<unknown> {
  const get = async (path: string, as = owner) => (await server.call('GET', path, { token: as })).json;
  const paths = [
    '/api/panels',
    '/api/rules',
    '/api/levels',
    '/api/tokens',
    '/api/keys',
    '/api/searches',
    '/api/mappings',
    '/api/on-call',
    '/api/members',
    '/api/invitations',
    '/api/audit?limit=200',
    '/api/tenant',
    '/api/history?limit=200',
  ];
  const all = await Promise.all([...paths.map((path) => get(path)), get('/api/panels', token)]);
  return JSON.parse(
    JSON.stringify(all, (key, value) => {
      if (/^(lastUsed|lastSeen|hits|lastHit|lag|online|receipts)/.test(key)) return undefined;
      // Time alone makes a live one expired.
      return key === 'state' && value === 'expired' ? 'live' : value;
    }),
  );
}

test('there is a recipe for every route, and no recipe without one', () => {
  expect(Object.keys(recipes).toSorted()).toEqual(
    routes()
      .map(({ name }) => name)
      .toSorted(),
  );
});

test('what tokens may call, and what is open to all, is what the interface says and no more', () => {
  const names = (is: (policy: Policy) => boolean) =>
    routes()
      .filter(({ policy }) => is(policy))
      .map(({ name }) => name)
      .toSorted();
  const forScope = (scope: string) => names((policy) => scopeOf(policy) === scope);
  expect(names((policy) => typeof policy === 'object' && policy.orScope !== undefined)).toEqual([
    'GET /ntfy/v1/account',
  ]);
  expect(forScope('notify')).toEqual([
    'DELETE /api/integrations/opsgenie/v2/alerts/:alias',
    'GET /api/notifications/:id',
    'GET /api/notify/send',
    'GET /ntfy/:topic/publish',
    'GET /ntfy/:topic/send',
    'GET /ntfy/:topic/trigger',
    'GET /ntfy/v1/account',
    'POST /api/integrations/:name',
    'POST /api/integrations/custom/:mapping',
    'POST /api/integrations/opsgenie/v2/alerts',
    'POST /api/integrations/opsgenie/v2/alerts/:alias/acknowledge',
    'POST /api/integrations/opsgenie/v2/alerts/:alias/close',
    'POST /api/integrations/pagerduty/generic/2010-04-15/create_event.json',
    'POST /api/integrations/pagerduty/v2/enqueue',
    'POST /api/notify',
    'POST /gotify/message',
    'POST /ntfy',
    'POST /ntfy/:topic',
    'PUT /api/integrations/opsgenie/v2/alerts/:alias/:changed',
    'PUT /ntfy',
    'PUT /ntfy/:topic',
  ]);
  expect(forScope('metrics')).toEqual(['GET /tenant-metrics']);
  expect(forScope('panel')).toEqual([
    'DELETE /api/alarms/:id/acknowledge',
    'DELETE /gotify/application/:id/message',
    'DELETE /gotify/client/:id',
    'DELETE /gotify/message',
    'DELETE /gotify/message/:id',
    'GET /api/panels',
    'GET /api/panels/:id',
    'GET /api/panels/:id/events',
    'GET /gotify/application',
    'GET /gotify/application/:id/message',
    'GET /gotify/client',
    'GET /gotify/current/user',
    'GET /gotify/message',
    'GET /gotify/stream',
    ...['auth', 'json', 'raw', 'sse', 'ws'].map((name) => `GET /ntfy/:topic/${name}`),
    'POST /api/alarms/:id/acknowledge',
    'POST /api/alarms/:id/clear',
    'POST /api/notifications/:id/acknowledge',
    'POST /api/notifications/:id/clear',
    'POST /api/panels',
    'POST /api/panels/:id/receipts',
    'POST /api/panels/:id/unpair',
    'POST /gotify/client',
    'PUT /api/alarms/:id/owner',
  ]);
  const open = names((policy) => policy === 'public').filter(
    (name) => !/\/(?:docs|assets)(?:\/|$)/.test(name),
  );
  const ofPages = pages.map((path) => `GET ${path}`);
  expect(open.filter((name) => !ofPages.includes(name))).toEqual([
    'GET /api/pairings/:secret',
    'GET /api/session',
    'GET /api/session/oidc/:provider/callback',
    'GET /gotify/gotifyinfo',
    'GET /gotify/health',
    'GET /gotify/image/:file',
    'GET /gotify/version',
    'GET /healthz',
    'GET /ntfy/v1/config',
    'GET /ntfy/v1/health',
    'GET /openapi.json',
    'GET /panel',
    'GET /push',
    'GET /push/:file',
    'GET /readyz',
    'OPTIONS /api/integrations/cloudevents',
    'POST /api/answers/:tenant/:channel',
    'POST /api/integrations/:name/:tokenId',
    'POST /api/invitations/accept',
    'POST /api/invitations/preview',
    'POST /api/pairings',
    'POST /api/push/device',
    'POST /api/push/device/act',
    'POST /api/push/device/remove',
    'POST /api/push/device/subscription',
    'POST /api/push/device/test',
    'POST /api/push/devices',
    'POST /api/push/link',
    'POST /api/session',
    'POST /api/session/oidc/:provider',
    'POST /api/session/passkey',
    'POST /api/session/passkey/options',
    'POST /api/session/two-factor',
    'POST /api/setup',
    'POST /ntfy/act/:link',
  ]);
  const viewersChange = routes().filter(
    ({ method, policy }) => method !== 'GET' && roleOf(policy) === 'viewer',
  );
  expect(viewersChange.map(({ name }) => name).toSorted()).toEqual([
    // One may leave.
    'DELETE /api/members/:id',
    'POST /api/rules/explain',
  ]);
});

describe('every route', () => {
  test('is refused to callers without a tenant, unless it is public, with a word and nothing else', async () => {
    for (const { name, method, policy } of routes()) {
      const { request, ok = [200, 201, 204], isStream } = recipes[name] as Recipe;
      for (const caller of strangers) {
        const { status, text } = await ask(
          method,
          await request(worlds[0] as World, caller, false),
          caller,
          isStream,
        );
        expect([name, caller.name, status]).toEqual([
          name,
          caller.name,
          policy === 'public' ? expect.toBeOneOf([...ok]) : 401,
        ]);
        expect([name, caller.name, canariesIn(text)]).toEqual([name, caller.name, []]);
      }
    }
  });

  test("does in the caller's own tenant what its policy says, and shows nothing of another tenant", async () => {
    const inOne = async (world: World, at: number) => {
      let welcomed = 0;
      for (const [n, { name, method, policy }] of routes().entries()) {
        const { request, ok = [200, 201, 204], isStream, policy: own = policy } = recipes[name] as Recipe;
        for (const caller of world.callers.filter((_, index) => takesPart(n, index, at))) {
          const verdict = expected(own, caller);
          const { status, text } = await ask(
            method,
            await request(world, caller, verdict === 'welcome'),
            caller,
            isStream,
          );
          const call = `${name} by ${caller.name} of ${world.name}`;
          expect([call, status, text]).toEqual([
            call,
            verdict === 'welcome' ? expect.toBeOneOf([...ok]) : verdict,
            text,
          ]);
          // A refusal shows nothing, not even of the caller's own tenant.
          const shown = canariesIn(text).filter((each) => each !== world.name || verdict !== 'welcome');
          expect([call, shown]).toEqual([call, []]);
          if (verdict === 'welcome') welcomed += 1;
        }
      }
      return welcomed;
    };
    const welcomed = await Promise.all(worlds.map(inOne));
    for (const count of welcomed) expect(count).toBeGreaterThan(full ? 300 : 100);
  });

  test('that names something of another tenant is refused as if it were not there, and leaves it as it was', async () => {
    const before = await Promise.all(worlds.map(everythingOf));
    let tried = 0;
    const callers = worlds.flatMap(({ name: of, callers }, world) =>
      callers.map((each, caller) => ({ ...each, of, world, caller })),
    );
    for (const [n, { name, method, policy }] of routes().entries()) {
      const { request, names, isStream, policy: own = policy } = recipes[name] as Recipe;
      if (!names) continue;
      for (const caller of callers.filter((each) => takesPart(n, each.caller, each.world))) {
        const verdict = expected(own, caller);
        for (const target of worlds.filter(({ name: other }) => other !== caller.of)) {
          const { status, text } = await ask(method, await request(target, caller, false), caller, isStream);
          const at = `${name} by ${caller.name} of ${caller.of} at ${target.name}`;
          expect([at, status]).toEqual([at, verdict === 'welcome' ? 404 : verdict]);
          expect([at, canariesIn(text)]).toEqual([at, []]);
          tried += 1;
        }
      }
    }
    expect(tried).toBeGreaterThan(full ? 2_000 : 700);
    expect(await Promise.all(worlds.map(everythingOf))).toEqual(before);
  });

  test('asked by a person for a tenant that is not theirs is refused, in header and query, with a word and nothing else', async () => {
    const before = await Promise.all(worlds.map(everythingOf));
    const [own, target] = worlds as [World, World];
    let tried = 0;
    for (const { name, method, policy } of routes()) {
      if (typeof policy === 'string') continue;
      const { request, isStream } = recipes[name] as Recipe;
      for (const caller of own.callers.filter(({ person }) => person)) {
        const { path, json } = await request(target, caller, false);
        const { 'belfry-tenant': _, ...rest } = caller.headers ?? {};
        const query = `${path}${path.includes('?') ? '&' : '?'}tenant=${target.name}`;
        for (const forged of [
          { path, json, headers: { ...rest, 'belfry-tenant': target.name } },
          { path: query, json, headers: rest },
        ]) {
          const { status, text } = await ask(method, forged, caller, isStream);
          const at = `${name} by ${caller.name} as ${target.name}: ${forged.path}`;
          expect([at, status, canariesIn(text)]).toEqual([at, 403, []]);
          tried += 1;
        }
      }
    }
    expect(tried).toBeGreaterThan(300);
    expect(await Promise.all(worlds.map(everythingOf))).toEqual(before);
  });

  test('answers what is foreign in every word as it answers what is not there', async () => {
    const missing = '01890000-0000-7000-8000-000000000000';
    const [own, target] = worlds as [World, World];
    for (const { name, method, policy } of routes()) {
      const { request, names, policy: required = policy } = recipes[name] as Recipe;
      const caller = own.callers.find((each) => expected(required, each) === 'welcome');
      if (!names || !caller) continue;
      const foreign = await request(target, caller, false);
      const nothing = {
        ...foreign,
        path: foreign.path.replace(
          /^(\/api\/[a-z]+\/)[^/]+/,
          `$1${name.includes(':name') ? 'nothing' : missing}`,
        ),
      };
      const clean = ({ status, text }: Answer) => [
        status,
        text.replace(/\["(?:date|x-request-id)","[^"]*"\]/g, ''),
      ];
      const [a, b] = [await ask(method, foreign, caller), await ask(method, nothing, caller)];
      expect([name, clean(a)]).toEqual([name, clean(b)]);
    }
  });
});
