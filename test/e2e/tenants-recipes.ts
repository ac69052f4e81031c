import { randomInt } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { panelCommands } from '#contract/panels/panel.ts';
import type { Policy } from '#core/people/access.ts';
import { hashSecret, randomText } from '#core/people/secrets.ts';
import { makePerson } from '../support/person.ts';
import type { TestServer } from '../support/server.ts';
import { createAccountRecipes } from './tenants-account-recipes.ts';
import { type Caller, onCallDraft, type World } from './tenants-world.ts';

export interface Request {
  readonly path: string;
  readonly json?: unknown;
  /** Instead of the caller's own. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** How to call a route so that it would succeed for whoever may call it. */
export interface Recipe {
  /** `fresh` makes what the call uses up; without it the tenant's own things are named. */
  request(world: World, caller: Caller, fresh: boolean): Request | Promise<Request>;
  /** What success is, if not 200, 201 or 204. */
  readonly ok?: readonly number[];
  readonly isStream?: boolean;
  /** What it takes of a credential, where the route itself asks for more than its policy. */
  readonly policy?: Policy;
  /** Its path names something of one tenant, which for another tenant is not there. */
  readonly names?: 'one of a tenant';
}

/** The dashboard's, which reads its own addresses. */
export const pages = [
  '/',
  '/t/*',
  ...['account', 'invite', 'new-tenant', 'setup', 'sign-in'].map((page) => `/${page}`),
];

/** An address that nobody may reach: a test of it is answered at once. */
export const channelDraft = (name: string) => ({
  ...{ name, kind: 'webhook', settings: { url: 'http://127.0.0.1:9/' } },
});
const subscription = {
  endpoint: 'https://push.example.org/x',
  keys: { p256dh: `B${'A'.repeat(86)}`, auth: 'A'.repeat(22) },
};
const random = () => `x${randomInt(2 ** 40).toString(36)}`;

/** One for each route of the server; a route without one fails the test that goes through all of them. */
export function createRecipes(server: TestServer): Record<string, Recipe> {
  const { directory } = server.running;
  const plain = (path: string, json?: (world: World) => unknown): Recipe => ({
    request: (world) => ({ path, ...(json && { json: json(world) }) }),
  });
  const of = (request: Recipe['request'], more: Partial<Recipe> = {}): Recipe => ({
    names: 'one of a tenant',
    request,
    ...more,
  });
  const made = async (world: World, path: string, json: unknown, as = world.owner) =>
    (await server.call('POST', path, { token: as, ...(json !== undefined && { json }) })).json.id as string;
  const openPairing = async () => {
    const [code, secret] = [randomText('BCDFGHJKMNPQRTVWXYZ', 6), random()];
    const now = Date.now();
    await directory.pairings.open({
      code,
      secretHash: hashSecret(secret),
      createdAt: now,
      expiresAt: now + 60_000,
    });
    return { code, secret };
  };
  const draft = ({ canary }: World) => ({ name: canary, when: { host: [canary] }, then: { mute: true } });

  return {
    'GET /healthz': plain('/healthz'),
    'GET /ntfy/v1/health': plain('/ntfy/v1/health'),
    'GET /ntfy/v1/config': plain('/ntfy/v1/config'),
    'GET /ntfy/v1/account': plain('/ntfy/v1/account'),
    'OPTIONS /api/integrations/cloudevents': plain('/api/integrations/cloudevents'),
    'GET /readyz': plain('/readyz'),
    'GET /openapi.json': plain('/openapi.json'),
    // 404 where the documentation has not been built.
    'GET /docs': { ...plain('/docs'), ok: [200, 404] },
    'GET /docs/*': { ...plain('/docs/none'), ok: [404] },
    'GET /docs/api': plain('/docs/api'),
    'GET /docs/api/*': plain('/docs/api/static/swagger-ui.css'),
    // 404 where the pages have not been built.
    'GET /panel': { ...plain('/panel'), ok: [200, 404] },
    'GET /push': { ...plain('/push'), ok: [200, 404] },
    'GET /push/:file': { ...plain('/push/none.js'), ok: [404] },
    ...Object.fromEntries(
      pages.map((path) => [`GET ${path}`, { ...plain(path.replace('*', 'acme')), ok: [200, 404] }]),
    ),
    'GET /assets/*': { ...plain('/assets/none.js'), ok: [404] },

    ...createAccountRecipes(server),

    'POST /api/notify': plain('/api/notify', ({ canary }) => ({
      title: canary,
      message: canary,
      level: 'info',
      ttl: 1,
    })),
    'GET /api/notify/send': {
      request: ({ canary }) => ({ path: `/api/notify/send?title=${canary}&message=${canary}&ttl=1` }),
      // Of the tokens with the scope, one has the option for it.
      ok: [200, 403],
    },
    // An error stays until it is cleared: what expires while a test runs would look like a change.
    'POST /api/integrations/:name': plain('/api/integrations/uptime-kuma?level=error', ({ canary }) => ({
      msg: canary,
    })),
    'POST /api/integrations/custom/:mapping': {
      request: async ({ owner, canary }, _, fresh) => {
        const json = { fields: { title: canary, level: 'error' } };
        if (fresh) await server.call('PUT', '/api/mappings/sent', { token: owner, json });
        return { path: '/api/integrations/custom/sent', json: {} };
      },
    },
    // Only GitHub could sign: without a signature everybody is refused alike.
    'POST /api/integrations/:name/:tokenId': {
      request: ({ spareToken }) => ({ path: `/api/integrations/github/${spareToken}`, json: {} }),
      ok: [401],
    },
    'POST /api/integrations/pagerduty/v2/enqueue': {
      ...plain('/api/integrations/pagerduty/v2/enqueue', ({ canary }) => ({
        event_action: 'trigger',
        payload: { summary: canary, source: 'h', severity: 'error' },
      })),
      ok: [202],
    },
    'POST /api/integrations/pagerduty/generic/2010-04-15/create_event.json': plain(
      '/api/integrations/pagerduty/generic/2010-04-15/create_event.json',
      ({ canary }) => ({ event_type: 'trigger', description: canary }),
    ),
    'POST /api/integrations/opsgenie/v2/alerts': {
      ...plain('/api/integrations/opsgenie/v2/alerts?level=error', ({ canary }) => ({
        message: canary,
        alias: canary,
      })),
      ok: [202],
    },
    'POST /api/integrations/opsgenie/v2/alerts/:alias/close': {
      request: ({ canary }) => ({
        path: `/api/integrations/opsgenie/v2/alerts/${canary}/close?identifierType=alias&level=error`,
        json: {},
      }),
      ok: [202],
    },
    'POST /api/integrations/opsgenie/v2/alerts/:alias/acknowledge': {
      ...plain('/api/integrations/opsgenie/v2/alerts/none/acknowledge', ({ canary }) => ({ note: canary })),
      ok: [202],
    },
    'DELETE /api/integrations/opsgenie/v2/alerts/:alias': {
      request: ({ canary }) => ({ path: `/api/integrations/opsgenie/v2/alerts/${canary}?level=error` }),
      ok: [202],
    },
    'PUT /api/integrations/opsgenie/v2/alerts/:alias/:changed': {
      ...plain('/api/integrations/opsgenie/v2/alerts/a/message', ({ canary }) => ({ message: canary })),
      ok: [202],
    },
    ...Object.fromEntries(
      ['POST', 'PUT'].flatMap((method) => [
        [`${method} /ntfy`, plain('/ntfy?level=error', ({ canary }) => ({ topic: canary, message: canary }))],
        [`${method} /ntfy/:topic`, plain('/ntfy/topic?level=error', ({ canary }) => canary)],
      ]),
    ),
    ...Object.fromEntries(
      ['publish', 'send', 'trigger'].map((word) => [
        `GET /ntfy/:topic/${word}`,
        { request: ({ canary }) => ({ path: `/ntfy/topic/${word}?level=error&message=${canary}` }) },
      ]),
    ),
    'POST /gotify/message': plain('/gotify/message?level=error', ({ canary }) => ({ message: canary })),
    'GET /tenant-metrics': plain('/tenant-metrics'),
    'GET /api/notifications/:id': of(({ sent }, { name }) => ({
      path: `/api/notifications/${sent[name] ?? sent.own}`,
    })),
    'POST /api/notifications/:id/clear': of(async (world, _, fresh) => {
      const id = fresh
        ? await made(world, '/api/notify', { title: 't', message: 'm' }, world.token)
        : world.sent.own;
      return { path: `/api/notifications/${id}/clear` };
    }),
    'GET /api/alarms': plain('/api/alarms'),
    'GET /api/alarms/stream': { ...plain('/api/alarms/stream'), isStream: true },
    'GET /api/alarms/:id': of(({ sent }) => ({ path: `/api/alarms/${sent.own}` })),
    ...Object.fromEntries(
      [
        ['POST', 'acknowledge', { take: true }],
        ['DELETE', 'acknowledge'],
        ['POST', 'shelve', { forMs: 3_600_000 }],
        ['DELETE', 'shelve'],
        ['POST', 'clear', {}],
        ['PUT', 'owner', { userId: null }],
      ].map(([method, what, json]) => [
        `${method} /api/alarms/:id/${what}`,
        of(async (world, _, fresh) => {
          const id = fresh
            ? await made(world, '/api/notify', { title: 't', message: 'm', ttl: 0 }, world.token)
            : world.sent.own;
          return { path: `/api/alarms/${id}/${what}`, ...(json !== undefined && { json }) };
        }),
      ]),
    ),
    'POST /api/alarms/actions': plain('/api/alarms/actions', ({ canary }) => ({
      ...{ action: 'acknowledge', q: 'level:error', note: canary },
    })),
    'GET /api/expectations': plain('/api/expectations'),
    'DELETE /api/expectations': of(async (world, _, fresh) => {
      const key = fresh ? 'expected' : world.canary;
      const sent = { title: 't', message: 'm', key, expectEvery: '1d' };
      if (fresh) await made(world, '/api/notify', sent, world.token);
      return { path: `/api/expectations?key=${key}` };
    }),
    'POST /api/notifications/:id/acknowledge': of(({ sent, canary }, { name }) => ({
      path: `/api/notifications/${sent[name] ?? sent.own}/acknowledge`,
      json: { note: canary },
    })),

    'GET /api/panels': plain('/api/panels'),
    'GET /api/panels/:id': of(({ panel }) => ({ path: `/api/panels/${panel}` })),
    'GET /api/panels/:id/events': of(({ panel }) => ({ path: `/api/panels/${panel}/events` }), {
      isStream: true,
    }),
    // A topic is a name of the caller's own tenant.
    // What it takes is proved in phones-buttons.test.ts; nobody here has a link.
    'POST /ntfy/act/:link': { ...plain('/ntfy/act/x'), ok: [404, 429] },
    'GET /ntfy/:topic/auth': { request: ({ panel }) => ({ path: `/ntfy/${panel}/auth` }) },
    ...Object.fromEntries(
      ['json', 'sse', 'raw'].map((form) => [
        `GET /ntfy/:topic/${form}`,
        { request: ({ panel }: World) => ({ path: `/ntfy/${panel}/${form}?poll=1` }) },
      ]),
    ),
    ...Object.fromEntries(
      ['version', 'gotifyinfo', 'health', 'image/58a6ff.png'].map((path) => [
        `GET /gotify/${path.replace(/image.*/, 'image/:file')}`,
        plain(`/gotify/${path}`),
      ]),
    ),
    'GET /gotify/current/user': plain('/gotify/current/user'),
    'GET /gotify/application': plain('/gotify/application'),
    'GET /gotify/application/:id/message': plain('/gotify/application/4/message'),
    'GET /gotify/message': plain('/gotify/message'),
    'GET /gotify/client': plain('/gotify/client'),
    // Each token has a panel of its own, if it is bound to none.
    'POST /gotify/client': plain('/gotify/client', ({ canary }) => ({ name: canary })),
    // What they take is proved in phones-gotify.test.ts: the numbers are of the caller's own panel.
    'DELETE /gotify/client/:id': { ...plain('/gotify/client/2'), ok: [404] },
    'DELETE /gotify/message/:id': { ...plain('/gotify/message/9000000000000000'), ok: [404] },
    'DELETE /gotify/message': plain('/gotify/message'),
    'DELETE /gotify/application/:id/message': plain('/gotify/application/4/message'),
    'GET /gotify/stream': { ...plain('/gotify/stream'), ok: [400] },
    'GET /ntfy/:topic/ws': { ...plain('/ntfy/topic/ws'), ok: [400] },
    'POST /api/panels/:id/receipts': of(({ panel, sent }) => ({
      path: `/api/panels/${panel}/receipts`,
      json: [{ id: sent.own, state: 'shown', at: Date.now() }],
    })),
    // It takes a token that a screen got by pairing; nobody here has one.
    'POST /api/panels/:id/unpair': of(({ panel }) => ({ path: `/api/panels/${panel}/unpair` }), {
      ok: [403],
    }),
    'POST /api/panels': plain('/api/panels', ({ canary }) => ({ name: canary })),
    'PATCH /api/panels/:id': of(({ panel, canary }) => ({
      path: `/api/panels/${panel}`,
      json: { location: canary },
    })),
    'DELETE /api/panels/:id': of(async (world, _, fresh) => {
      const id = fresh ? await made(world, '/api/panels', { name: random() }, world.token) : world.panel;
      return { path: `/api/panels/${id}` };
    }),
    'GET /api/panels/:id/showing': of(({ panel }) => ({ path: `/api/panels/${panel}/showing` })),
    ...Object.fromEntries(
      panelCommands.map((command) => [
        `POST /api/panels/:id/${command}`,
        of(({ panel }) => ({ path: `/api/panels/${panel}/${command}` })),
      ]),
    ),
    // One network may open 20; it is public, so that is all there is to it.
    'POST /api/pairings': { ...plain('/api/pairings'), ok: [201, 429] },
    'GET /api/pairings/:secret': {
      request: async () => ({ path: `/api/pairings/${(await openPairing()).secret}` }),
    },
    'POST /api/pairings/:code/approve': {
      request: async ({ panel }) => ({
        path: `/api/pairings/${(await openPairing()).code}/approve`,
        json: { panelId: panel },
      }),
    },

    'GET /api/channels': plain('/api/channels'),
    'POST /api/channels': plain('/api/channels', ({ canary }) => channelDraft(`${canary} ${uuidv7()}`)),
    'PATCH /api/channels/:id': of(({ channel, canary }) => ({
      path: `/api/channels/${channel}`,
      json: { name: canary },
    })),
    'DELETE /api/channels/:id': of(async (world, _, fresh) => ({
      path: `/api/channels/${fresh ? await made(world, '/api/channels', channelDraft(uuidv7())) : world.channel}`,
    })),
    'GET /api/channels/:id/deliveries': of(({ channel }) => ({
      path: `/api/channels/${channel}/deliveries`,
    })),
    'POST /api/channels/:id/compare-secrets': of(({ channel }) => ({
      path: `/api/channels/${channel}/compare-secrets`,
      json: { secrets: { authorization: 'x' } },
    })),
    'POST /api/channels/:id/test': of(({ channel }) => ({ path: `/api/channels/${channel}/test` })),
    'GET /api/channels/:id/devices': of(({ push }) => ({ path: `/api/channels/${push.channel}/devices` })),
    'POST /api/channels/:id/devices': of(({ push }) => ({ path: `/api/channels/${push.channel}/devices` })),
    'DELETE /api/channels/:id/devices/:device': of(async (world, _, fresh) => {
      const path = `/api/channels/${world.push.channel}/devices`;
      return { path: `${path}/${fresh ? await made(world, path, undefined) : world.push.device}` };
    }),
    // What it takes is proved in channels-answers.test.ts; nobody here signs.
    'POST /api/answers/:tenant/:channel': of(
      ({ name, channel }) => ({ path: `/api/answers/${name}/${channel}`, json: {} }),
      { ok: [404, 429] },
    ),
    // What they take is proved in push.test.ts; nobody here has a link, or is a device.
    'POST /api/push/link': { ...plain('/api/push/link', () => ({ secret: random() })), ok: [410, 429] },
    'POST /api/push/devices': {
      ...plain('/api/push/devices', () => ({ secret: random(), name: 'x', subscription })),
      ok: [410, 429],
    },
    'POST /api/push/device': { ...plain('/api/push/device', () => ({ secret: random() })), ok: [404, 429] },
    'POST /api/push/device/subscription': {
      ...plain('/api/push/device/subscription', () => ({ secret: random(), subscription })),
      ok: [404, 429],
    },
    'POST /api/push/device/test': {
      ...plain('/api/push/device/test', () => ({ secret: random() })),
      ok: [404, 429],
    },
    'POST /api/push/device/act': {
      ...plain('/api/push/device/act', () => ({ secret: random(), action: 'acknowledge' })),
      ok: [404, 429],
    },
    'POST /api/push/device/remove': {
      ...plain('/api/push/device/remove', () => ({ secret: random() })),
      ok: [404, 429],
    },

    'GET /api/rules': plain('/api/rules'),
    'POST /api/rules': plain('/api/rules', draft),
    'PUT /api/rules/order': {
      request: async ({ id }) => ({
        path: '/api/rules/order',
        json: { ids: (await directory.rules.list(id)).map((rule) => rule.id).toReversed() },
      }),
    },
    'PATCH /api/rules/:id': of(({ rule, canary }) => ({
      path: `/api/rules/${rule}`,
      json: { note: canary },
    })),
    'DELETE /api/rules/:id': of(async (world, _, fresh) => ({
      path: `/api/rules/${fresh ? await made(world, '/api/rules', draft(world)) : world.rule}`,
    })),
    'POST /api/rules/explain': plain('/api/rules/explain', ({ sent }) => ({ notification: sent.own })),
    'POST /api/rules/replay': plain('/api/rules/replay', (world) => ({ rules: [draft(world)] })),

    'GET /api/levels': plain('/api/levels'),
    'PUT /api/levels/:name': {
      request: ({ canary }) => ({ path: `/api/levels/${canary}`, json: { rank: 33 } }),
    },
    'DELETE /api/levels/:name': of(async (world, _, fresh) => {
      const name = fresh ? random() : world.canary;
      if (fresh) await directory.levels.register(world.id, name, 'test', Date.now());
      return { path: `/api/levels/${name}` };
    }),

    'GET /api/tokens': plain('/api/tokens'),
    'POST /api/tokens': plain('/api/tokens', ({ canary }) => ({ name: canary })),
    'GET /api/tokens/:id/signing-secret': of(({ spareToken }) => ({
      path: `/api/tokens/${spareToken}/signing-secret`,
    })),
    'PATCH /api/tokens/:id': of(({ spareToken, canary }) => ({
      path: `/api/tokens/${spareToken}`,
      json: { name: canary },
    })),
    'DELETE /api/tokens/:id': of(async (world, _, fresh) => ({
      path: `/api/tokens/${fresh ? await made(world, '/api/tokens', { name: 'x' }) : world.spareToken}`,
    })),
    'GET /api/keys': plain('/api/keys'),
    'POST /api/keys': plain('/api/keys', ({ canary }) => ({ name: canary, role: 'viewer' })),
    'DELETE /api/keys/:id': of(async (world, _, fresh) => ({
      path: `/api/keys/${fresh ? await made(world, '/api/keys', { name: 'x', role: 'viewer' }) : world.spareKey}`,
    })),

    'GET /api/searches': plain('/api/searches'),
    'POST /api/searches': plain('/api/searches', ({ canary }) => ({
      name: `${canary} ${uuidv7()}`,
      q: canary,
    })),
    'PUT /api/searches/:id': of(({ search, canary }) => ({
      path: `/api/searches/${search}`,
      json: { name: canary, q: canary },
    })),
    'DELETE /api/searches/:id': of(async (world, _, fresh) => ({
      path: `/api/searches/${fresh ? await made(world, '/api/searches', { name: uuidv7(), q: 'x' }) : world.search}`,
    })),
    'GET /api/on-call': plain('/api/on-call'),
    'POST /api/on-call': plain('/api/on-call', ({ canary }) => onCallDraft(`${canary} ${uuidv7()}`)),
    'GET /api/on-call/:id': of(({ onCall }) => ({ path: `/api/on-call/${onCall}` })),
    'PATCH /api/on-call/:id': of(({ onCall, canary }) => ({
      path: `/api/on-call/${onCall}`,
      json: { name: canary },
    })),
    'DELETE /api/on-call/:id': of(async (world, _, fresh) => ({
      path: `/api/on-call/${fresh ? await made(world, '/api/on-call', onCallDraft(uuidv7())) : world.onCall}`,
    })),
    'POST /api/on-call/:id/read': of(({ onCall }) => ({ path: `/api/on-call/${onCall}/read` })),
    'POST /api/on-call/preview': plain('/api/on-call/preview', ({ canary }) => {
      const { people, rota } = onCallDraft(canary);
      return { people, rota };
    }),
    'GET /api/mappings': plain('/api/mappings'),
    'PUT /api/mappings/:name': {
      request: async ({ owner, canary }, _, fresh) => {
        const path = '/api/mappings/ups';
        if (fresh) await server.call('PUT', path, { token: owner, json: { fields: { title: 't' } } });
        return { path, json: { fields: { title: canary } } };
      },
    },
    // Mappings have names of their own in each tenant.
    'DELETE /api/mappings/:name': {
      request: async ({ owner }, _, fresh) => {
        const json = { fields: { title: 't' } };
        if (fresh) await server.call('PUT', '/api/mappings/spare', { token: owner, json });
        return { path: '/api/mappings/spare' };
      },
    },
    'GET /api/mappings/:name/capture': {
      ...plain('/api/mappings/ups/capture'),
      // Until something is sent to it.
      ok: [200, 404],
    },
    'POST /api/mappings/preview': plain('/api/mappings/preview', ({ canary }) => ({
      mapping: { fields: { title: '{/t}' } },
      payload: JSON.stringify({ t: canary }),
    })),
    'GET /api/members': plain('/api/members'),
    'PATCH /api/members/:id': of(({ member }) => ({
      path: `/api/members/${member}`,
      json: { role: 'member' },
    })),
    'DELETE /api/members/:id': of(
      async (world, _, fresh) => ({
        path: `/api/members/${fresh ? (await makePerson(server, 'viewer', { tenant: world.name })).id : world.member}`,
      }),
      // A person may also leave, whatever the role; a key is nobody.
      { policy: { role: 'admin' } },
    ),
    'GET /api/invitations': plain('/api/invitations'),
    'POST /api/invitations': plain('/api/invitations', ({ canary }) => ({
      role: 'viewer',
      email: `${canary}-${uuidv7()}@example.org`,
    })),
    'DELETE /api/invitations/:id': of(async (world, _, fresh) => ({
      path: `/api/invitations/${fresh ? await made(world, '/api/invitations', { role: 'viewer' }) : world.invitation}`,
    })),
    'GET /api/audit': plain('/api/audit?limit=200'),

    'GET /api/tenant': plain('/api/tenant'),
    'PATCH /api/tenant': plain('/api/tenant', ({ canary }) => ({ title: canary })),

    'GET /api/history': plain('/api/history?limit=200'),
    'GET /api/history/stream': { ...plain('/api/history/stream'), isStream: true },
    'GET /api/history/histogram': plain('/api/history/histogram'),
    'GET /api/history/values': plain('/api/history/values?key=token'),
    'GET /api/overview': plain('/api/overview'),
    'GET /api/history/export': plain('/api/history/export?format=csv'),
  };
}
