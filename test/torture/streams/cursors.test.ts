import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Cli } from '#test/support/cli.ts';
import { Load } from '#test/support/load.ts';
import { endServers, ServerProcess } from '#test/support/server-process.ts';
import { openStream } from '#test/support/sse-client.ts';
import { credentials, onStorage, registerPanels } from '#test/support/storage.ts';
import { report } from '../report.ts';

const folder = mkdtempSync(join(tmpdir(), 'belfry-cursors-'));
const pruned = 5;
let server: ServerProcess;
let token: string;
let epoch: string;
let before: string;
let otherToken: string;
let head: number;
const outcomes: string[] = [];

/** A log of which the beginning is pruned, after a restore; and another tenant, whose log is longer. */
beforeAll(async () => {
  ({ token } = await credentials(folder));
  ({ token: otherToken } = await credentials(folder, { tenant: 'other' }));
  await registerPanels(folder, 1);
  server = await ServerProcess.start({ folder });
  await fill(token, 20);
  await fill(otherToken, 100);
  await server.end('SIGTERM');
  before = await onStorage(folder, async ({ directory }) => (await directory.changedSince(0)).epoch);
  const backup = join(folder, 'backup.db');
  const cli = new Cli(folder);
  await cli.ok(['backup', backup]);
  await cli.ok(['restore', backup]);
  await onStorage(folder, async ({ directory, storage }) => {
    const tenant = (await directory.tenants.findByName('default'))?.id as number;
    ({ epoch } = await directory.changedSince(0));
    ({ head } = await storage.history.bounds(tenant));
    const keep = head - pruned;
    while ((await storage.history.prune(tenant, { olderThan: null, keep }, Date.now())) > 0);
    ({ head } = await storage.history.bounds(tenant));
  });
  expect(epoch).not.toBe(before);
  server = await ServerProcess.start({ folder, env: { BELFRY_HEARTBEAT_MS: '500' } });
});

afterAll(async () => {
  await endServers();
  rmSync(folder, { recursive: true, force: true });
});

async function fill(ofToken: string, count: number): Promise<void> {
  const load = new Load({ token: ofToken, writers: 2, ttlMs: 1 });
  load.start(server.url);
  await load.next(() => load.acknowledged >= count, 20_000);
  await load.stop();
}

/** What comes of a cursor, as `<status>` or the kind of resume with the positions sent. */
async function outcomeOf(cursor: string): Promise<string> {
  const stream = await openStream(`${server.url}/api/panels/panel-0/events`, {
    authorization: `Bearer ${token}`,
    'last-event-id': cursor,
  });
  try {
    if (stream.response.status !== 200) return String(stream.response.status);
    await stream.next(({ event }) => event === 'heartbeat');
    const [ready] = stream.messages;
    expect(ready?.data).toMatchObject({ epoch, head });
    expect(stream.messages.at(-1)?.id).toBe(`${epoch}-${head}`);
    return ready?.data.resume;
  } finally {
    stream.close();
  }
}

test.each([
  ['0, where the log no longer begins', () => `${epoch}-0`, 'gap'],
  ['what was pruned', () => `${epoch}-${pruned - 1}`, 'gap'],
  ['the first that is left', () => `${epoch}-${pruned}`, 'replayed'],
  ['the head', () => `${epoch}-${head}`, 'replayed'],
  ['ahead of the head', () => `${epoch}-${head + 1}`, 'reset'],
  ['the position of another tenant', () => `${epoch}-${head + 50}`, 'reset'],
  ['the largest safe number', () => `${epoch}-${2 ** 53 - 1}`, 'reset'],
  ['2⁵³', () => `${epoch}-${2 ** 53}`, '400'],
  ['a negative number', () => `${epoch}--1`, '400'],
  ['a broken number', () => `${epoch}-1.5`, '400'],
  ['text', () => 'nowhere', '400'],
  ['a number alone', () => '12', '400'],
  ['another epoch', () => 'e9-12', 'reset'],
  ['the epoch before the restore', () => `${before}-12`, 'reset'],
])('the cursor of %s is answered for what it is', async (_, cursor, expected) => {
  const outcome = await outcomeOf(cursor());
  outcomes.push(outcome);
  expect(outcome).toBe(expected);
});

test('what came of the cursors', () => {
  const counts = Map.groupBy(outcomes, (outcome) => outcome);
  report({
    promise: 'every unusual cursor leads to a replay, a gap, a reset or a refusal',
    method:
      '0, pruned, first kept, head, ahead, another tenant’s, 2⁵³−1, 2⁵³, negative, broken, text, of another epoch, from before a restore',
    count: `${outcomes.length} cursors`,
    result: [...counts].map(([outcome, all]) => `${all.length} × ${outcome}`).join(', '),
  });
  expect(outcomes).toHaveLength(14);
});
