import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRecipes, type Recipe } from '#test/e2e/tenants-recipes.ts';
import { type Caller, createWorld, strangers, type World } from '#test/e2e/tenants-world.ts';
import { TestServer } from '#test/support/server.ts';
import type { SseReader } from '#test/support/sse-client.ts';
import { countOf, timeLimit } from '../counts.ts';
import { Dice } from '../input/dice.ts';
import { report } from '../report.ts';

const rounds = countOf('tenantRounds');
const width = 200;
const requestsPerLane = 5;
const streamsPerTenant = 8;

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

/** The names of the worlds whose canary is in a text. */
const canariesIn = (text: string) =>
  worlds.filter(({ canary }) => text.includes(canary)).map(({ name }) => name);

interface Tally {
  requests: number;
  welcomed: number;
  foreign: number;
  readonly problems: string[];
  /** Notifications that were accepted, by the tenant that sent them. */
  readonly accepted: Map<string, Set<string>>;
}

/** Prefers sending, and routes that name something of a tenant, because most routes belong to the dashboard. */
function pickRoute(dice: Dice) {
  const { routes } = server.running;
  const roll = dice.roll();
  if (roll < 0.2) return { method: 'POST', url: '/api/notify' };
  if (roll < 0.6) return dice.pick(routes.filter(({ method, url }) => recipes[`${method} ${url}`]?.names));
  return dice.pick(routes);
}

/** One request of a caller of `own`, to its own tenant or sometimes to another. */
async function requestOnce(dice: Dice, tally: Tally): Promise<void> {
  const own = dice.pick(worlds);
  const { method, url } = pickRoute(dice);
  const name = `${method} ${url}`;
  const { request, isStream, names } = recipes[name] as Recipe;
  const sender = { name: 'own', credential: own.token, grant: { scopes: ['notify'] } } as const;
  const caller: Caller = dice.chance(0.05)
    ? dice.pick(strangers)
    : url === '/api/notify'
      ? sender
      : dice.pick(own.callers);
  const target = names && dice.chance(0.5) ? dice.pick(worlds.filter((world) => world !== own)) : own;
  const call = await request(target, caller, target === own && caller.grant !== undefined);
  const headers = call.headers ?? caller.headers;
  tally.requests += 1;
  const at = `${name} by ${caller.name} of ${own.name} at ${target.name}`;
  const { status, text } = isStream
    ? await beginning(call.path, caller.credential, headers)
    : await called(method, call.path, { token: caller.credential, headers, json: call.json });
  const foreign = canariesIn(text).filter((each) => each !== own.name || caller.grant === undefined);
  if (foreign.length > 0) tally.problems.push(`${at}: ${status}, and shows ${foreign.join(', ')}`);
  if (status >= 500 && status !== 503) tally.problems.push(`${at}: ${status} ${text.slice(0, 200)}`);
  if (target !== own) {
    tally.foreign += 1;
    if (status < 300) tally.problems.push(`${at}: ${status}`);
  } else if (status < 300) {
    tally.welcomed += 1;
    if (url === '/api/notify')
      tally.accepted.get(own.name)?.add((JSON.parse(text.split('\n')[0] ?? '') as { id: string }).id);
  }
}

async function called(
  method: string,
  path: string,
  {
    token,
    headers,
    json,
  }: { token: string | undefined; headers: Readonly<Record<string, string>> | undefined; json: unknown },
): Promise<{ status: number; text: string }> {
  const answer = await server.call(method, path, {
    token,
    ...(headers && { headers: { ...headers } }),
    ...(json !== undefined && { json }),
  });
  return { status: answer.status, text: `${answer.text}\n${JSON.stringify([...answer.headers])}` };
}

/** The first events of a stream. */
async function beginning(
  path: string,
  credential: string | undefined,
  headers: Readonly<Record<string, string>> | undefined,
): Promise<{ status: number; text: string }> {
  const bearer = credential ?? (headers ? undefined : '');
  const stream = await server.stream(path, bearer, undefined, headers);
  // Everything that arrives until then, including what other requests caused.
  if (stream.response.status === 200) await stream.next(({ event }) => event === 'ready');
  stream.close();
  await stream.ended;
  return { status: stream.response.status, text: JSON.stringify(stream.messages) };
}

test(`${width} at once, of three tenants, with streams open: nobody sees a word of another's`, {
  timeout: timeLimit(180_000),
}, async () => {
  const streams = new Map<string, SseReader[]>();
  for (const { name, token, owner, panel } of worlds) {
    const open = Array.from({ length: streamsPerTenant }, (_, i) =>
      i % 2 === 0
        ? server.stream(`/api/panels/${panel}/events`, token)
        : server.stream('/api/history/stream', owner),
    );
    streams.set(name, await Promise.all(open));
  }
  const tally: Tally = {
    requests: 0,
    welcomed: 0,
    foreign: 0,
    problems: [],
    accepted: new Map(worlds.map(({ name }) => [name, new Set()])),
  };
  for (let round = 0; round < rounds && tally.problems.length === 0; round++) {
    const lanes = Array.from({ length: width }, async (_, lane) => {
      const dice = new Dice(round * width + lane + 1);
      for (let i = 0; i < requestsPerLane; i++) await requestOnce(dice, tally);
    });
    await Promise.all(lanes);
  }
  const events = new Map<string, number>();
  for (const { name } of worlds) {
    for (const stream of streams.get(name) ?? []) {
      const text = JSON.stringify(stream.messages);
      const foreign = canariesIn(text).filter((each) => each !== name);
      if (foreign.length > 0) tally.problems.push(`a stream of ${name} shows ${foreign.join(', ')}`);
      events.set(name, (events.get(name) ?? 0) + stream.messages.length);
    }
  }
  report({
    promise: 'tenants are isolated',
    method: `${width} requests at a time, every route by every kind of caller of three tenants, half of those that name something at another tenant's; ${streamsPerTenant} streams a tenant open all the while; a word in every text that is nowhere else`,
    count: `${tally.requests} requests, ${tally.foreign} of them at another tenant's, ${[...events.values()].reduce((a, b) => a + b, 0)} events`,
    result: `${tally.problems.length} foreign words, ${tally.welcomed} requests did what they should`,
  });
  expect(tally.problems).toEqual([]);
  expect(tally.welcomed).toBeGreaterThan(tally.requests / 10);
  expect(tally.foreign).toBeGreaterThan(tally.requests / 20);
  // A tail has shown everything that its own tenant sent, and no stream was empty.
  for (const { name } of worlds) {
    const [, tail] = streams.get(name) ?? [];
    const sent = tally.accepted.get(name) ?? new Set();
    const seen = () =>
      new Set(tail?.messages.map(({ data }) => (data as { id?: string; notification?: { id: string } }).id));
    await expect.poll(() => [...sent].filter((id) => !seen().has(id))).toEqual([]);
    expect(sent.size).toBeGreaterThan(0);
    for (const stream of streams.get(name) ?? []) stream.close();
  }
});
