import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '#test/support/eventually.ts';
import { seedOf } from '#test/support/fuzz.ts';
import { endServers } from '#test/support/server-process.ts';
import { countOf, full, timeLimit } from '../counts.ts';
import { report } from '../report.ts';
import { Dice } from './dice.ts';
import { createFuzzWorld, type FuzzWorld } from './fuzz-world.ts';
import { Fuzzer } from './fuzzer.ts';

const requests = countOf('fuzzedRequests');
/**
 * Succeeding takes what nobody can make up: a password, a code, a passkey's signature, a provider, the link of the first
 * start, the link of a button, the ids of all rules in a row, another program's payload or signature, the settings of a kind of channel.
 */
const beyondReach = [
  'PUT /api/rules/order',
  'POST /api/integrations/{name}',
  'POST /api/integrations/{name}/{tokenId}',
  'POST /api/integrations/pagerduty/v2/enqueue',
  'POST /api/integrations/pagerduty/generic/2010-04-15/create_event.json',
  'POST /api/channels',
  'POST /api/session',
  'POST /api/session/two-factor',
  'POST /api/session/passkey',
  'POST /api/session/oidc/{provider}',
  'GET /api/session/oidc/{provider}/callback',
  'POST /api/setup',
  'POST /api/account/password',
  'POST /api/account/two-factor',
  'DELETE /api/account/two-factor',
  'POST /api/account/two-factor/verify',
  'POST /api/account/two-factor/backup-codes',
  'POST /api/account/passkeys',
  'DELETE /api/account/passkeys/{id}',
  'POST /ntfy/act/{link}',
  'GET /ntfy/{topic}/ws',
  'GET /gotify/stream',
  'DELETE /gotify/client/{id}',
  'DELETE /gotify/message/{id}',
  'POST /api/answers/{tenant}/{channel}',
  'POST /api/push/device/act',
];
/** In the short form some routes are tried a few times only; of those that let nobody in there would be dozens. */
const missedByChance = 20;
/** What was made up is taken away so often, or lists grow and every answer with them. */
const tidyEvery = full ? 4_000 : 1_000;

let world: FuzzWorld;
beforeAll(async () => {
  world = await createFuzzWorld();
});
afterAll(async () => {
  await world?.close();
  await endServers();
});

test(`${requests} requests made up from the OpenAPI document are answered, and nothing that is refused is kept`, {
  timeout: timeLimit(240_000),
}, async () => {
  const fuzzer = new Fuzzer(world, new Dice(seedOf('test/torture/input/fuzz.test.ts')), beyondReach);
  const { tally } = fuzzer;
  const before = await world.counts();
  // Of each round, before retention drops any.
  const own = new Set<string>();
  let rounds = 0;
  for (let left = requests; left > 0 && tally.problems.length === 0; left -= tidyEvery) {
    await fuzzer.run(Math.min(tidyEvery, left), 16);
    for (const id of await world.sentByBelfry()) own.add(id);
    tally.changes += await world.tidy();
    rounds += 1;
  }
  const after = await world.counts();
  const statuses = [...tally.statuses].sort(([a], [b]) => a - b);
  report({
    promise: 'bad input: 0 answers 5xx (but 503 with Retry-After), 0 crashes, 0 hangs, errors of one field',
    method:
      'requests made up from the OpenAPI document: every route and parameter, right and wrong types, huge, deep, hostile text, prototype keys; each answer held against the document',
    count: `${tally.sent} requests`,
    result: `${tally.problems.length} problems; ${statuses.map(([status, count]) => `${count} × ${status}`).join(', ')}`,
  });
  expect(tally.problems).toEqual([]);
  expect(tally.sent).toBe(requests);
  // A fuzzer whose every request is refused at the door tests the door alone.
  const unmet = tally.routes.filter((route) => !tally.welcomed.has(route) && !beyondReach.includes(route));
  expect(
    full || unmet.length > missedByChance ? unmet : [],
    'routes that nothing got past the door of',
  ).toEqual([]);
  await eventually(async () => {
    const { received } = await world.counts();
    for (const id of await world.sentByBelfry()) own.add(id);
    expect(received - before.received - own.size).toBe(tally.accepted.size + rounds * world.sentByTidying);
  });
  expect(after.audited - before.audited).toBeLessThanOrEqual(tally.changes);
  expect((await fetch(`${world.server.url}/readyz`)).status).toBe(200);
  expect(world.server.output).not.toMatch(/failed unexpectedly|unhandled|background task failed/i);
});
