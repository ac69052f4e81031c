/** A server of its own to be fuzzed, with something of every kind in it, and what tells whether it bore it. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { ownSenders } from '#core/intake/own-sender.ts';
import { webhookNames } from '#integrations/formats.ts';
import { ServerProcess } from '#test/support/server-process.ts';
import { credentials } from '#test/support/storage.ts';
import type { Document, Known } from './openapi-requests.ts';

export interface FuzzWorld {
  readonly server: ServerProcess;
  readonly document: Document;
  /** Credentials of the tenant, and of another. */
  readonly tokens: readonly string[];
  readonly keys: readonly string[];
  readonly foreign: readonly string[];
  /** `Cookie` headers of people of the tenant who are signed in. */
  readonly sessions: readonly string[];
  /** Ids and names of what is there, by the parameter that takes them; those of the other tenant among them. */
  readonly known: Known;
  /** Puts everything as it was at first; answers how many changes that were. */
  tidy(): Promise<number>;
  /** Notifications that it sends each time. */
  readonly sentByTidying: number;
  /** Ids of the notifications that Belfry sent of itself, because an expectation was not met or a panel had no screen. */
  sentByBelfry(): Promise<readonly string[]>;
  /** Rows of the audit log, and notifications received by now, those of Belfry itself among them. */
  counts(): Promise<{ audited: number; received: number }>;
  close(): Promise<void>;
}

type Json = Record<string, unknown>;

export async function createFuzzWorld(): Promise<FuzzWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-fuzz-'));
  const { token, key } = await credentials(folder, { role: 'owner', name: 'fuzz' });
  const { token: otherToken, key: otherKey } = await credentials(folder, { tenant: 'other', role: 'owner' });
  const server = await ServerProcess.start({
    folder,
    env: { BELFRY_RATE_AUTH: 'off', BELFRY_RETENTION_COUNT: '2000', BELFRY_LOG_LEVEL: 'warn' },
  });
  const call = async (method: string, path: string, json?: Json, credential = key): Promise<Json> => {
    const response = await fetch(server.url + path, {
      method,
      headers: {
        authorization: `Bearer ${credential}`,
        ...(json && { 'content-type': 'application/json' }),
      },
      ...(json && { body: JSON.stringify(json) }),
    });
    return response.status === 204 ? {} : ((await response.json()) as Json);
  };
  await free(call, key);
  await free(call, otherKey);
  const people = await signUp(server);
  const known = await furnish(call, { token: otherToken, key: otherKey });
  const world: Workshop = { call, token, key, people, foreign: known, known: { ...known }, sessions: [] };
  await tidy(world);
  return {
    server,
    document: (await call('GET', '/openapi.json')) as unknown as Document,
    tokens: [token],
    keys: [key],
    foreign: [otherToken, otherKey],
    get known() {
      return world.known;
    },
    get sessions() {
      return world.sessions;
    },
    tidy: () => tidy(world),
    sentByTidying: sentByFurnishing * stock,
    async sentByBelfry() {
      const ids: string[] = [];
      for (const reader of [key, otherKey]) {
        for (const { id } of ownSenders) {
          const found = await call('GET', `/api/history?limit=200&q=token:"${id}"`, undefined, reader);
          ids.push(...(found.notifications as { id: string }[]).map((each) => each.id));
        }
      }
      return ids;
    },
    async counts() {
      const db = new Database(join(folder, 'belfry.db'), { readonly: true });
      const audited = db
        .prepare("SELECT count(*) FROM audit WHERE tenant = (SELECT id FROM tenants WHERE name = 'default')")
        .pluck()
        .get() as number;
      db.close();
      // The other tenant's token is now and then tried too, and is as good as any.
      const received = await Promise.all([token, otherToken].map((each) => receivedBy(server.url, each)));
      return { audited, received: received.reduce((sum, count) => sum + count, 0) };
    },
    async close() {
      await server.end('SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function receivedBy(url: string, token: string): Promise<number> {
  const answer = await fetch(`${url}/tenant-metrics`, { headers: { authorization: `Bearer ${token}` } });
  const counts = (await answer.text()).matchAll(/^belfry_notifications_received_total\{[^}]*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

type Call = (method: string, path: string, json?: Json, credential?: string) => Promise<Json>;

/** No limit of the tenant's own, whatever was set. */
const free = (call: Call, key: string) =>
  call('PATCH', '/api/tenant', { rate: 'off', retentionDays: null, retentionCount: null }, key);

const owner = { email: 'owner@example.org', password: 'seven brown horses at noon' };

interface People {
  /** A new session of the owner, as a `Cookie` header. */
  signIn(): Promise<string>;
  /** The ids of the owner's sessions but this one. */
  otherSessions(cookie: string): Promise<readonly string[]>;
  /** Makes someone out of an invitation. */
  accept(secret: string): Promise<void>;
}

/** Makes the owner's account by the link of the first start. */
async function signUp(server: ServerProcess): Promise<People> {
  const post = async (path: string, json: Json): Promise<Response> =>
    fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: server.url },
      body: JSON.stringify(json),
    });
  const [, secret = ''] = /setup#([^\s"]+)/.exec(server.output) ?? [];
  const made = await post('/api/setup', { ...owner, secret, name: 'fuzz', tenantTitle: 'Default' });
  if (made.status !== 200) throw new Error(`no account: ${await made.text()}`);
  return {
    async signIn() {
      const answer = await post('/api/session', owner);
      const [cookie = ''] = answer.headers.getSetCookie().filter((each) => each.includes('session_token'));
      if (cookie === '') throw new Error(`not signed in: ${answer.status} ${await answer.text()}`);
      return cookie.split(';')[0] ?? '';
    },
    async otherSessions(cookie) {
      const answer = await fetch(`${server.url}/api/account/sessions`, { headers: { cookie } });
      const { sessions } = (await answer.json()) as { sessions: { id: string; current: boolean }[] };
      return sessions.filter(({ current }) => !current).map(({ id }) => id);
    },
    async accept(invitation) {
      const account = { email: `${randomUUID()}@example.org`, name: 'Someone', password: owner.password };
      await post('/api/invitations/accept', { secret: invitation, account });
    },
  };
}

const onCallDraft = (name: string): Json => ({
  name,
  // An alarm of Belfry itself before the first count would count twice.
  alertBeforeMs: 0,
  people: [{ name: 'Ana' }],
  rota: {
    firstWeek: '2026-11-30',
    shifts: [{ days: ['mon'], from: '00:00', until: '24:00', people: ['Ana'] }],
  },
});
/** Nothing is delivered to it: its address is not public. */
const channelDraft = (name: string): Json => ({
  name,
  kind: 'webhook',
  settings: { url: 'https://127.0.0.1/hook' },
});

/** One of everything in a tenant. */
async function furnish(call: Call, { token, key }: { token: string; key: string }): Promise<Known> {
  const name = randomUUID();
  const mute = { name, when: { host: ['x'] }, then: { mute: true } };
  const made = async (path: string, json?: Json, as = key) => String((await call('POST', path, json, as)).id);
  const panel = await made('/api/panels', { name, tags: ['front'] }, token);
  const rule = await made('/api/rules', mute);
  const sent = await made('/api/notify', { title: 'T', message: 'M', ttl: 0 }, token);
  await made('/api/notify', { title: 'T', message: 'M', key: 'expected', expectEvery: '1d' }, token);
  await call('PUT', '/api/mappings/mapped', { items: '/items', fields: { title: '{/t}' } }, key);
  // Kept as what came last; it stores nothing.
  await call('POST', '/api/integrations/custom/mapped', { items: [] }, token);
  const pairing = await call('POST', '/api/pairings');
  const push = await made('/api/channels', { name: `${name} push`, kind: 'push' });
  const invitation = await call('POST', '/api/invitations', { role: 'viewer' }, key);
  return {
    'invitations.id': [String(invitation.id)],
    secrets: [String(invitation.secret)],
    'panels.id': [panel],
    'rules.id': [rule],
    'tokens.id': [await made('/api/tokens', { name })],
    'keys.id': [await made('/api/keys', { name, role: 'viewer' })],
    'searches.id': [await made('/api/searches', { name, q: 'disk' })],
    'notifications.id': [sent],
    id: [sent],
    panelId: [panel],
    ids: [rule],
    secret: [String(pairing.secret), String(invitation.secret)],
    code: [String(pairing.code)],
    name: ['error', 'made-up'],
    'integrations.name': [...webhookNames],
    'integrations.mapping': ['mapped'],
    'mappings.name': ['mapped'],
    'on-call.id': [await made('/api/on-call', onCallDraft(name))],
    'channels.id': [await made('/api/channels', channelDraft(name)), push],
    'channels.device': [await made(`/api/channels/${push}/devices`)],
    'application.id': ['4'],
    'image.file': ['58a6ff.png'],
    key: ['expected'],
    payload: ['{"t":"x"}', '{}'],
    email: [`${randomUUID()}@example.org`],
    password: [owner.password],
    last_event_id: ['aaaaaaaaaa-1'],
    cursor: ['1'],
  };
}

const collections = ['channels', 'panels', 'rules', 'tokens', 'keys', 'searches', 'invitations', 'members'];
/** As requests delete what they find, there must be some to find. */
const stock = 5;
const sentByFurnishing = 2;

interface Workshop {
  readonly call: Call;
  readonly token: string;
  readonly key: string;
  /** Of the other tenant. */
  readonly people: People;
  readonly foreign: Known;
  known: Known;
  sessions: readonly string[];
}

async function tidy(world: Workshop): Promise<number> {
  const { call, key, token, foreign } = world;
  await free(call, key);
  let changes = 1;
  for (const name of collections) {
    const listed = (await call('GET', `/api/${name}`))[name] as { id: string; name?: string }[] | undefined;
    for (const each of listed ?? []) {
      // The credentials that the fuzzer itself uses have this name.
      if (each.name === 'fuzz') continue;
      await call('DELETE', `/api/${name}/${each.id}`);
      changes += 1;
    }
  }
  const fresh: Record<string, readonly string[]> = { ...foreign };
  for (let i = 0; i < stock; i++) {
    for (const [name, values] of Object.entries(await furnish(call, { token, key })))
      fresh[name] = [...(fresh[name] ?? []), ...values];
    changes += 9;
  }
  // People are few: each is a password to hash.
  await world.people.accept(fresh.secrets?.at(-1) ?? '');
  const { members } = (await call('GET', '/api/members')) as { members: { id: string; name: string }[] };
  fresh['members.id'] = members.filter(({ name }) => name !== 'fuzz').map(({ id }) => id);
  const [first, second] = [await world.people.signIn(), await world.people.signIn()];
  await world.people.signIn();
  const others = await Promise.all([first, second].map((session) => world.people.otherSessions(session)));
  fresh['account.id'] = (others[0] ?? []).filter((id) => others[1]?.includes(id));
  world.sessions = [first, second];
  world.known = fresh;
  changes += 6;
  return changes;
}
