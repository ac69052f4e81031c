import { randomBytes } from 'node:crypto';
import type { Scope } from '#contract/people/token.ts';
import { mintSecret, parseSecret } from '#core/people/secrets.ts';
import { makePerson, sessionCookie, type TestPerson } from '../support/person.ts';
import type { TestServer } from '../support/server.ts';

/** Someone who calls: with a credential that is in force, one that is not, or none at all. */
export interface Caller {
  readonly name: string;
  readonly credential: string | undefined;
  /** A person's cookie and tenant. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly person?: TestPerson;
  /** What a credential in force may do. */
  readonly grant: { readonly scopes: readonly Scope[] } | { readonly role: string } | undefined;
}

/** A tenant in whose every text stands a word that is nowhere else. */
export interface World {
  readonly name: string;
  readonly id: number;
  readonly canary: string;
  readonly callers: readonly Caller[];
  /** A token and a key with which the test itself prepares things. */
  readonly token: string;
  readonly owner: string;
  readonly panel: string;
  readonly rule: string;
  readonly spareToken: string;
  readonly spareKey: string;
  readonly search: string;
  readonly channel: string;
  readonly onCall: string;
  /** A channel of the kind push, and a link of it that was not used. */
  readonly push: { readonly channel: string; readonly device: string };
  readonly member: string;
  readonly invitation: string;
  /** A notification that each caller with the notify scope sent, by the caller's name; `own` of `token`. */
  readonly sent: Readonly<Record<string, string>>;
}

/** Callers without any tenant. */
export const strangers: readonly Caller[] = [
  { name: 'nobody', credential: undefined, grant: undefined },
  { name: 'garbage', credential: 'garbage', grant: undefined },
  { name: 'a token that was never made', credential: mintSecret('token').text, grant: undefined },
  { name: 'a key that was never made', credential: mintSecret('key').text, grant: undefined },
];

export const onCallDraft = (name: string) => ({
  ...{ name, people: [{ name: 'Ana' }] },
  rota: {
    firstWeek: '2026-11-30',
    shifts: [{ days: ['mon'], from: '00:00', until: '24:00', people: ['Ana'] }],
  },
  alertBeforeMs: 0,
});

export async function createWorld(server: TestServer, name: string): Promise<World> {
  const canary = `canary${randomBytes(6).toString('hex')}`;
  const id = await server.tenant(name);
  const [token, owner] = [
    await server.token({ tenant: name, name: canary }),
    await server.key('owner', name),
  ];
  const callers = await createCallers(server, name, canary);
  const make = async (path: string, json?: unknown, as = owner) =>
    (await server.call('POST', path, { token: as, ...(json !== undefined && { json }) })).json;
  await server.call('PATCH', '/api/tenant', { token: owner, json: { title: canary } });
  await server.call('PUT', `/api/levels/${canary}`, { token: owner, json: { rank: 33 } });
  const panel = await make('/api/panels', { name: canary, tags: [canary], location: canary }, token);
  const rule = await make('/api/rules', {
    name: canary,
    note: canary,
    when: { host: [`${canary}-not`] },
    then: { panels: { tags: [canary] } },
  });
  const push = (await make('/api/channels', { name: `${canary} push`, kind: 'push' })).id;
  const sent: Record<string, string> = {};
  const senders = callers.filter(
    ({ grant }) => grant && 'scopes' in grant && grant.scopes.includes('notify'),
  );
  for (const { name: sender, credential } of [{ name: 'own', credential: token }, ...senders]) {
    const text = {
      title: canary,
      message: canary,
      host: canary,
      labels: { site: canary },
      key: `${canary} ${sender}`,
      url: `https://example.org/${canary}`,
    };
    sent[sender] = (await server.notify(credential as string, { ...text, level: canary, ttl: 0 })).json.id;
  }
  return {
    name,
    id,
    canary,
    callers,
    token,
    owner,
    sent,
    panel: panel.id,
    rule: rule.id,
    spareToken: (await make('/api/tokens', { name: canary })).id,
    spareKey: (await make('/api/keys', { name: canary, role: 'viewer' })).id,
    channel: (
      await make('/api/channels', {
        ...{ name: canary, kind: 'ntfy' },
        settings: { url: 'http://127.0.0.1:9', topic: canary },
        secrets: { token: `${canary}secret` },
      })
    ).id,
    onCall: (await make('/api/on-call', onCallDraft(canary))).id,
    push: { channel: push, device: (await make(`/api/channels/${push}/devices`)).id },
    search: (await make('/api/searches', { name: canary, q: canary })).id,
    member: (
      await makePerson(server, 'viewer', { tenant: name, name: canary, email: `${canary}@example.org` })
    ).id,
    invitation: (await make('/api/invitations', { role: 'viewer', email: `${canary}@example.com` })).id,
  };
}

async function createCallers(server: TestServer, tenant: string, canary: string): Promise<Caller[]> {
  const callers: Caller[] = [];
  for (const scopes of [['notify'], ['panel'], ['metrics'], ['notify', 'panel', 'metrics']] as const) {
    const allowInUrl = scopes.length === 1 && scopes[0] === 'notify';
    const credential = await server.token({ tenant, scopes, name: canary, allowInUrl });
    callers.push({ name: `a token for ${scopes}`, credential, grant: { scopes } });
  }
  for (const role of ['viewer', 'member', 'admin', 'owner'] as const) {
    callers.push({
      name: `a key of the role ${role}`,
      credential: await server.key(role, tenant),
      grant: { role },
    });
  }
  callers.push(...(await createPeople(server, tenant, canary)));
  const { credentials } = server.running.directory;
  const id = await server.tenant(tenant);
  const [token, key, late] = [
    await server.token({ tenant }),
    await server.key('owner', tenant),
    await server.key('owner', tenant),
  ];
  await credentials.revoke(id, 'token', parseSecret(token)?.id as string, 'test', Date.now());
  await credentials.revoke(id, 'key', parseSecret(key)?.id as string, 'test', Date.now());
  await credentials.update(
    id,
    'key',
    parseSecret(late)?.id as string,
    { expiresAt: Date.now() - 1 },
    'test',
    Date.now(),
  );
  const dead = {
    'a revoked token': token,
    'a revoked key': key,
    'an expired token': await server.token({ tenant, expiresAt: Date.now() - 1 }),
    'an expired key': late,
    'a token that may only come from elsewhere': await server.token({
      tenant,
      allowFrom: ['203.0.113.0/24'],
    }),
  };
  for (const [name, credential] of Object.entries(dead)) callers.push({ name, credential, grant: undefined });
  return callers;
}

/** One of each role; one whose session is over, and one who is a member no more. */
async function createPeople(server: TestServer, tenant: string, canary: string): Promise<Caller[]> {
  const people: Caller[] = [];
  const headersOf = async (person: TestPerson) => ({
    origin: server.url,
    'belfry-tenant': tenant,
    cookie: await sessionCookie(server, person),
  });
  for (const role of ['viewer', 'member', 'admin', 'owner'] as const) {
    const person = await makePerson(server, role, { tenant, name: canary });
    people.push({
      name: `a person of the role ${role}`,
      credential: undefined,
      headers: await headersOf(person),
      person,
      grant: { role },
    });
  }
  const left = await makePerson(server, 'owner', { tenant, name: canary });
  const headers = await headersOf(left);
  await server.running.accounts.endSessions(left.id, undefined);
  people.push({ name: 'a person who was signed out', credential: undefined, headers, grant: undefined });
  return people;
}
