import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { removeDeletedTenants } from '#core/log/retention.ts';
import { TestServer } from '../support/server.ts';
import { onStorage } from '../support/storage.ts';

test('the data of a deleted tenant is removed in steps, also after a restart, and nothing of another one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-deletion-'));
  const server = await TestServer.start({ BELFRY_RATE_TENANT: 'off', BELFRY_RATE_TOKEN: 'off' }, folder);
  const [theirs, kept] = [await server.newTenant(), await server.newTenant()];
  for (const each of [theirs, kept]) {
    for (let i = 0; i < 5; i++) await each.send({ title: `number ${i}`, key: `k${i % 2}` });
    expect((await each.call('POST', '/api/rules', { name: 'quiet', then: { mute: true } })).status).toBe(201);
  }
  const [id, keptId] = [await server.tenant(theirs.tenant), await server.tenant(kept.tenant)];
  const { directory } = server.running;
  await directory.tenants.delete(id, 'cli', Date.now());
  await server.stop({ keep: true });
  const removed: string[] = [];
  await onStorage(folder, async ({ storage: { history }, directory: { tenants, ...rest } }) => {
    const options = { tenants, history, now: Date.now, onRemoved: (name: string) => removed.push(name) };
    // A step after which the server is stopped.
    let steps = 0;
    await removeDeletedTenants(options, () => ++steps > 2);
    expect(await tenants.get(id)).toMatchObject({ state: 'deleting' });
    await removeDeletedTenants(options, () => false);
    expect(await history.size(id)).toEqual({ notifications: 0, bytes: 0 });
    const { first, head } = await history.bounds(id);
    expect(first).toBe(head + 1);
    for (const list of [rest.rules, rest.levels, rest.panels]) expect(await list.list(id)).toEqual([]);
    expect(await rest.credentials.list(id, 'token')).toEqual([]);
    expect(removed).toEqual([]);
    // Nothing was left this time.
    await removeDeletedTenants(options, () => false);
    expect(await tenants.get(id)).toMatchObject({ state: 'deleted' });
    await removeDeletedTenants(options, () => false);
    expect(removed).toHaveLength(1);
    expect(await history.size(keptId)).toMatchObject({ notifications: 5 });
    expect(await rest.rules.list(keptId)).toHaveLength(1);
  });
});
