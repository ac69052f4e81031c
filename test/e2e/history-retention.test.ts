import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createInProcessBus } from '#bus/in-process.ts';
import type { Entry } from '#core/log/log.ts';
import { enforceRetention, type RetentionOptions } from '#core/log/retention.ts';
import { noPanel } from '#core/log/target.ts';
import { newRule } from '#core/routing/rules.ts';
import { type Follower, follow } from '#core/streams/follow.ts';
import type { Directory } from '#core/tenants/directory.ts';
import type { TenantRecord } from '#core/tenants/tenants.ts';
import type { Storage } from '#storage/database/storage.ts';
import { createDirectory } from '#storage/directory/directory.ts';
import type { LogSizes } from '#storage/sqlite/log/log-writer.ts';
import { openSqlite } from '#storage/sqlite/open.ts';
import { eventually } from '../support/eventually.ts';
import { TestServer } from '../support/server.ts';
import { append } from './history-seed.ts';

const dayMs = 86_400_000;
const now = Date.UTC(2026, 10, 2, 12);
const folder = mkdtempSync(join(tmpdir(), 'belfry-retention-'));
const bus = createInProcessBus(console.error);
let storage: Storage;
let directory: Directory;
const openStorage = (file: string, sizes: LogSizes) =>
  openSqlite({
    path: join(folder, file),
    queueCapacity: 100_000,
    minFreeBytes: 0,
    sizes,
    onProblem: (message) => {
      throw new Error(message);
    },
  });
beforeAll(() => {
  storage = openStorage('belfry.db', { partitionRows: 1_000, indexBatchRows: 100 });
  directory = createDirectory(storage.db);
});
afterAll(async () => {
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
});

type Settings = Partial<Pick<TenantRecord, 'retentionDays' | 'retentionCount'>>;
/** A tenant with one expired notification of each of the last ten days, the newest of this moment. */
async function newTenant(name: string, settings: Settings = {}): Promise<number> {
  const { id } = await directory.tenants.create(name, name, 'test', 1);
  await directory.tenants.update(id, settings, 'test', 1);
  await append(storage.history, id, 10, (i) => ({
    title: `day ${10 - i}`,
    receivedAt: now - (10 - i) * dayMs,
    ttl: 1,
    expiresAt: now - 1,
  }));
  return id;
}
const enforce = (
  server: Pick<RetentionOptions, 'days' | 'count'> &
    Partial<Pick<RetentionOptions, 'bounds' | 'now' | 'rulesPruned' | 'directory' | 'history'>>,
) =>
  enforceRetention(
    {
      directory,
      history: storage.history,
      bus,
      now: () => now,
      trustedNow: server.now ?? (() => now),
      rulesPruned: new Map(),
      bounds: { retentionDays: 'off', retentionCount: 'off' },
      ...server,
    },
    () => false,
  );
const left = async (tenant: number) => (await storage.history.size(tenant)).notifications;

test("each tenant keeps what it has set, by days and by count, and what it has not set is the server's", async () => {
  const tenants = {
    unset: await newTenant('unset'),
    days: await newTenant('days', { retentionDays: 3 }),
    count: await newTenant('count', { retentionCount: 2 }),
    both: await newTenant('both', { retentionDays: 8, retentionCount: 5 }),
    off: await newTenant('off', { retentionDays: 'off', retentionCount: 'off' }),
    shorter: await newTenant('shorter', { retentionDays: 0.5 }),
  };
  const counts = async () =>
    Object.fromEntries(
      await Promise.all(Object.entries(tenants).map(async ([name, id]) => [name, await left(id)])),
    );
  await enforce({ days: 'off', count: 'off' });
  expect(await counts()).toEqual({ unset: 10, days: 4, count: 2, both: 5, off: 10, shorter: 1 });
  await enforce({ days: 7, count: 6 });
  expect(await counts()).toEqual({ unset: 6, days: 4, count: 2, both: 5, off: 10, shorter: 1 });
  await enforce({ days: 'off', count: 'off', bounds: { retentionDays: 'off', retentionCount: 4 } });
  expect(await counts()).toEqual({ unset: 4, days: 4, count: 2, both: 4, off: 4, shorter: 1 });
  const { records } = await storage.history.search(tenants.days, { kind: 'all' }, { limit: 10, now });
  expect(records.map(({ title }) => title)).toEqual(['day 0', 'day 1', 'day 2', 'day 3']);
});

test('a tenant for which it fails holds up no other, and the error names it', async () => {
  const [broken, sound] = [await newTenant('broken'), await newTenant('sound')];
  const { history } = storage;
  const prune: typeof history.prune = (tenant, ...rest) =>
    tenant === broken ? Promise.reject(new Error('its own')) : history.prune(tenant, ...rest);
  const enforcing = enforce({
    days: 'off',
    count: 4,
    history: { prune, oldestRevision: (id) => history.oldestRevision(id) },
  });
  await expect(enforcing).rejects.toThrow('retention failed for the tenants broken');
  expect([await left(broken), await left(sound)]).toEqual([10, 4]);
});

test('panels hear of what was still shown when it was dropped', async () => {
  const { id: tenant } = await directory.tenants.create('shown', 'Shown', 'test', 1);
  await append(storage.history, tenant, 3, (i) => ({ receivedAt: now - (i === 3 ? 0 : 20 * dayMs) }));
  const entries: Entry[] = [];
  let follower: Follower | undefined;
  const cleared = new Promise<void>((resolve, reject) => {
    follower = follow({
      monotonicNow: () => performance.now(),
      history: storage.history,
      bus,
      tenant,
      from: 3,
      deliver: (more) => {
        entries.push(...more);
        if (entries.length === 2) resolve();
      },
      onGap: reject,
      onError: reject,
    });
  });
  await enforce({ days: 5, count: 'off' });
  await cleared;
  follower?.close();
  expect(entries).toMatchObject(
    [1, 2].map(() => ({ kind: 'clear', by: 'retention', reason: 'cleared', at: now })),
  );
  expect(await left(tenant)).toBe(1);
});

test('when it must stop, it stops between two slices', async () => {
  const tenant = await newTenant('large', { retentionCount: 1 });
  await append(storage.history, tenant, 6_000, () => ({ ttl: 1, expiresAt: now - 1 }));
  const tenants = { ...directory.tenants, list: async () => [await directory.tenants.get(tenant)] };
  let calls = 0;
  const stopped = () => {
    calls += 1;
    return calls > 1;
  };
  await enforceRetention(
    {
      directory: { ...directory, tenants },
      history: storage.history,
      bus,
      now: () => now,
      trustedNow: () => now,
      bounds: { retentionDays: 'off', retentionCount: 'off' },
      days: 'off',
      count: 'off',
      rulesPruned: new Map(),
    },
    stopped,
  );
  expect(await left(tenant)).toBeGreaterThan(1);
  expect(await left(tenant)).toBeLessThan(6_010);
  await enforce({ days: 'off', count: 'off' });
  expect(await left(tenant)).toBe(1);
});

test('versions of rules go with the last notification that was routed by them, and none that is in force goes', async () => {
  const { history, db, close } = openStorage('versions.db', { partitionRows: 1, indexBatchRows: 1 });
  const directory = createDirectory(db);
  const { id: tenant } = await directory.tenants.create('versions', 'Versions', 'test', 1);
  const rule = (name: string) => newRule('r', { name, then: { mute: true } }, 'UTC');
  await directory.rules.create(tenant, rule('first'), 'test', 1);
  for (const name of ['second', 'third']) await directory.rules.update(tenant, rule(name), 'test', 1);
  const routed = (revision: number) => ({ revision, rules: [], muted: true, target: noPanel });
  // One after the other, so that each has a partition of its own.
  for (const revision of [1, 2, 3])
    await append(history, tenant, 1, () => ({ receivedAt: now + revision, route: routed(revision) }));
  const names = async () => {
    const sets = await Promise.all([1, 2, 3].map((revision) => directory.rules.setAt(tenant, revision)));
    return sets.flatMap((set) => set?.rules.map(({ name }) => name) ?? []);
  };
  const rulesPruned: RetentionOptions['rulesPruned'] = new Map();
  const dropOne = async (count: number, at: number) => {
    await enforce({ directory, history, days: 'off', count, now: () => at, rulesPruned });
    return names();
  };
  const later = now + 3_600_000;
  expect(await dropOne(2, now)).toEqual(['first', 'second', 'third']);
  const addOne = () => append(history, tenant, 1, () => ({ receivedAt: now + 4, route: routed(3) }));
  await addOne();
  await history.prune(tenant, { olderThan: null, keep: 2 }, later);
  await eventually(async () => expect(await history.oldestRevision(tenant)).toBe(3));
  // Added, so that there is something to drop again: what keeps a version is the oldest that is left.
  await addOne();
  expect(await dropOne(2, later)).toEqual(['third']);
  expect((await directory.rules.list(tenant)).map(({ name }) => name)).toEqual(['third']);
  await close();
});

test('a tenant sets its own over HTTP; null takes it back', async () => {
  const server = await TestServer.start();
  const key = await server.key('admin');
  const patch = (json: object) => server.call('PATCH', '/api/tenant', { token: key, json });
  expect((await patch({ retentionDays: 30, retentionCount: 5_000 })).json).toMatchObject({
    retentionDays: 30,
    retentionCount: 5_000,
  });
  expect((await patch({ retentionDays: 'off' })).json).toMatchObject({
    retentionDays: 'off',
    retentionCount: 5_000,
  });
  expect((await patch({ retentionDays: null, retentionCount: null })).json).toMatchObject({
    retentionDays: null,
    retentionCount: null,
  });
  for (const json of [
    { retentionDays: 0 },
    { retentionDays: -1 },
    { retentionCount: 0 },
    { retentionCount: 1.5 },
    { retentionDays: 'never' },
  ]) {
    expect((await patch(json)).status).toBe(400);
  }
  await server.stop();
});
