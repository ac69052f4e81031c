import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AuditEntry } from '#contract/people/audit.ts';
import { TestServer } from '../support/server.ts';
import { createRecipes, type Recipe } from './tenants-recipes.ts';
import { createWorld, type World } from './tenants-world.ts';

let server: TestServer;
let world: World;
let recipes: Record<string, Recipe>;
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_RATE_AUTH: 'off', BELFRY_RATE_TENANT: 'off' });
  world = await createWorld(server, 'complete');
  recipes = createRecipes(server);
  // Two, so that there is something to put in another order.
  const json = { name: 'second', then: { mute: true } };
  await server.call('POST', '/api/rules', { token: world.owner, json });
});
afterAll(() => server.stop());

/**
 * What changes no tenant's configuration: the log, questions, receipts, what is of a person alone, what is not approved yet. And
 * unpairing, which takes a screen's own token: see pairing-screen.test.ts; and what takes a device's: see push.test.ts.
 */
const noConfiguration =
  /^POST \/api\/(?:notify|notifications\/:id\/(?:clear|acknowledge)|panels\/:id\/(?:receipts|unpair)|rules\/(?:explain|replay)|pairings|mappings\/preview|on-call\/preview|on-call\/:id\/read|channels\/:id\/(?:test|compare-secrets))$|^(?:POST|PUT|DELETE) \/(?:ntfy|gotify|api\/integrations)\b|\/api\/(?:alarms|expectations|session|account|setup|invitations\/(?:preview|accept)|push|answers|tenants)(?:\/|$)/;

const audit = async (): Promise<AuditEntry[]> =>
  (await server.call('GET', '/api/audit?limit=200', { token: world.owner })).json.entries;

test('every route that changes configuration writes what it did, and who did it, and no secret', async () => {
  const secrets = [world.token, world.owner];
  let changes = 0;
  for (const { method, url } of server.running.routes) {
    const name = `${method} ${url}`;
    if (['GET', 'HEAD', 'OPTIONS'].includes(method) || noConfiguration.test(name)) continue;
    const { request, ok = [200, 201, 204] } = recipes[name] as Recipe;
    const caller = world.callers.find((each) =>
      each.grant && url === '/api/panels'
        ? 'scopes' in each.grant && each.grant.scopes.includes('panel')
        : each.name === 'a key of the role owner',
    );
    if (!caller) throw new Error('there is nobody to call');
    const { path, json } = await request(world, caller, true);
    const before = new Set((await audit()).map(({ id }) => id));
    // A panel is registered once under one name, and what is to be changed must not be so already.
    const wanted = name === 'POST /api/panels' ? { name: `${world.canary} new` } : fresh(json);
    const answer = await server.call(method, path, {
      token: caller.credential,
      ...(wanted !== undefined && { json: wanted }),
    });
    expect([name, answer.status, answer.text]).toEqual([name, expect.toBeOneOf([...ok]), answer.text]);
    const { token, key, secret, signingKey } = answer.json ?? {};
    secrets.push(...[token, key, secret, signingKey].filter((each) => typeof each === 'string'));
    const written = (await audit()).filter(({ id }) => !before.has(id));
    expect([name, written.length]).not.toEqual([name, 0]);
    for (const { by, subject } of written) {
      expect([name, by]).toEqual([name, expect.stringMatching(/^(?:key|token) ./)]);
      expect([name, subject]).not.toEqual([name, '']);
    }
    if (method === 'PATCH' || method === 'PUT')
      expect([name, written[0]?.detail]).toEqual([
        name,
        expect.objectContaining({ before: expect.anything(), after: expect.anything() }),
      ]);
    changes += 1;
  }
  expect(changes).toBeGreaterThan(15);
  const text = JSON.stringify(await audit());
  for (const each of secrets) {
    expect(text).not.toContain(each);
    // Of a token or key the public id may be told, the secret in the middle not.
    const [, , inner = each] = each.split('_');
    expect(text).not.toContain(inner);
  }
});

/** The recipe's body, with what it sets set to something else. */
function fresh(json: unknown): unknown {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return json;
  return Object.fromEntries(
    Object.entries(json).map(([field, value]) => [
      field,
      ['name', 'title', 'note', 'location'].includes(field)
        ? `${value} again`
        : field === 'rank'
          ? 44
          : value,
    ]),
  );
}
