import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { approvePairing, collectPairing, openPairing, pairingMs } from '#core/people/pairing.ts';
import type { Directory } from '#core/tenants/directory.ts';
import { createDirectory } from '#storage/directory/directory.ts';
import { tokenRecord } from '../conformance/directory.ts';
import { openMemoryDatabase } from '../support/memory-database.ts';

/** Pairing at times of the test's choosing, which a running server does not have. */
describe('a pairing', () => {
  const lobby = { id: 'p1', name: 'Lobby', tags: [], location: null };
  let database: ReturnType<typeof openMemoryDatabase>;
  let directory: Directory;
  let tenant: number;
  beforeEach(async () => {
    database = openMemoryDatabase();
    directory = createDirectory(database.db);
    tenant = (await directory.tenants.create('default', 'Default', 'test', 0)).id;
    await directory.credentials.add(
      tokenRecord(tenant, 'approver', { kind: 'key', role: 'admin', scopes: [] }),
    );
  });
  afterEach(() => database.close());

  const approve = (code: string, at: number, panel: typeof lobby | string = lobby) =>
    approvePairing(
      directory,
      code,
      { by: { kind: 'key', tenant, id: 'approver', name: 'ann', role: 'admin' }, panel },
      at,
    );

  test('lives ten minutes: it can be neither approved nor collected after that', async () => {
    const { code, secret, expiresAt } = await openPairing(directory, 1_000);
    expect(expiresAt).toBe(1_000 + pairingMs);
    await expect(approve(code, expiresAt)).rejects.toMatchObject({ code: 'pairing.unknown-code' });
    expect(await collectPairing(directory, secret, expiresAt - 1)).toEqual({ state: 'waiting', expiresAt });
    await expect(collectPairing(directory, secret, expiresAt)).rejects.toMatchObject({ code: 'gone' });
    await approve(code, expiresAt - 1);
    await expect(collectPairing(directory, secret, expiresAt)).rejects.toMatchObject({ code: 'gone' });
    expect(await directory.credentials.list(tenant, 'token')).toEqual([]);
  });

  test('makes its token when it is collected, and once', async () => {
    const { code, secret } = await openPairing(directory, 0);
    await approve(code, 1);
    expect(await directory.credentials.list(tenant, 'token')).toEqual([]);
    const answers = await Promise.all([2, 3, 4].map((at) => collectPairing(directory, secret, at)));
    expect(answers.filter(({ state }) => state === 'approved')).toMatchObject([{ panel: { id: 'p1' } }]);
    expect(await directory.credentials.list(tenant, 'token')).toMatchObject([
      { name: 'panel Lobby', panelId: 'p1', scopes: ['panel'], createdBy: 'key ann' },
    ]);
  });

  test('that no screen waits for leaves no new panel behind, and an old one where it was', async () => {
    await expect(approve('NOCODE', 1)).rejects.toMatchObject({ code: 'pairing.unknown-code' });
    expect(await directory.panels.list(tenant)).toEqual([]);
    expect(await directory.panels.deleted(tenant)).toEqual([]);
    const { code } = await openPairing(directory, 0);
    await approve(code, 1);
    await expect(approve(code, 2, { ...lobby, id: 'p2' })).rejects.toMatchObject({
      code: 'pairing.unknown-code',
    });
    expect(await directory.panels.list(tenant)).toMatchObject([{ id: 'p1' }]);
  });

  test('is not approved for a panel of another tenant', async () => {
    const other = (await directory.tenants.create('other', 'Other', 'test', 0)).id;
    await directory.panels.register(other, lobby, 'test', 0);
    const { code, secret, expiresAt } = await openPairing(directory, 0);
    await expect(approve(code, 1, 'p1')).rejects.toMatchObject({ code: 'pairing.unknown-code' });
    expect(await collectPairing(directory, secret, 2)).toEqual({ state: 'waiting', expiresAt });
  });
});
