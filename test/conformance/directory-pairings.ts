import { expect, test } from 'vitest';
import { type DirectoryLab, tokenRecord } from './directory.ts';

export function pairingsConformance(lab: () => DirectoryLab): void {
  let made = 0;
  const pairing = (over: { code?: string; createdAt?: number; expiresAt?: number } = {}) => {
    made += 1;
    return {
      code: `CODE${made}`,
      secretHash: `secret hash ${made}`,
      createdAt: 1000,
      expiresAt: 2000,
      ...over,
    };
  };
  const tenantWithPanel = async () => {
    const { directory, newTenant, audit } = lab();
    const tenant = await newTenant();
    await directory.panels.register(tenant, { id: 'tv', name: 'TV', tags: [], location: null }, 'x', 1);
    await audit(tenant);
    return tenant;
  };

  test('an opened pairing waits, and only its secret finds it', async () => {
    const { pairings } = lab().directory;
    const opened = pairing();
    expect(await pairings.open(opened)).toBe(true);
    expect(await pairings.findBySecret(opened.secretHash)).toEqual({
      ...opened,
      tenant: null,
      panelId: null,
      approvedBy: null,
      collectedAt: null,
    });
    expect(await pairings.findBySecret(opened.code)).toBeUndefined();
  });

  test('a code that is waiting cannot be opened again, an expired one can', async () => {
    const { pairings } = lab().directory;
    const first = pairing();
    expect(await pairings.open(first)).toBe(true);
    expect(await pairings.open(pairing({ code: first.code, createdAt: 1999, expiresAt: 3000 }))).toBe(false);
    expect(await pairings.open(pairing({ code: first.code, createdAt: 2000, expiresAt: 3000 }))).toBe(true);
    expect(await pairings.findBySecret(first.secretHash)).toBeUndefined();
  });

  test('of several that open one code at once, one does', async () => {
    const { pairings } = lab().directory;
    const opened = await Promise.all(
      Array.from({ length: 5 }, () => pairings.open(pairing({ code: 'RACING' }))),
    );
    expect(opened.filter(Boolean)).toHaveLength(1);
  });

  test('approval binds it to the tenant’s panel and stands in the audit log without the code', async () => {
    const { directory, audit } = lab();
    const { pairings } = directory;
    const tenant = await tenantWithPanel();
    const opened = pairing();
    await pairings.open(opened);
    expect(await pairings.approve(opened.code, tenant, 'tv', 'ann', 1500)).toBe(true);
    expect(await pairings.findBySecret(opened.secretHash)).toMatchObject({
      tenant,
      panelId: 'tv',
      approvedBy: 'ann',
    });
    const rows = await audit(tenant);
    expect(rows).toMatchObject([
      {
        at: 1500,
        by: 'ann',
        action: 'pairing.approve',
        subject: 'tv',
        detail: { panel: expect.any(String) },
      },
    ]);
    expect(JSON.stringify(rows)).not.toContain(opened.code);
  });

  test('a code can be approved once: by one of several at once, and not after it expired', async () => {
    const { directory } = lab();
    const { pairings } = directory;
    const [a, b] = [await tenantWithPanel(), await tenantWithPanel()];
    const opened = pairing();
    await pairings.open(opened);
    expect(await pairings.approve(opened.code, a, 'tv', 'ann', 2000)).toBe(false);
    const waits = (code: string, at: number) => pairings.isWaiting(code, at);
    expect([await waits(opened.code, 1999), await waits(opened.code, 2000)]).toEqual([true, false]);
    const answers = await Promise.all(
      [a, b, a, b].map((tenant) => pairings.approve(opened.code, tenant, 'tv', 'ann', 1500)),
    );
    expect(answers.filter(Boolean)).toHaveLength(1);
    expect([await waits(opened.code, 1500), await waits('NOCODE', 1500)]).toEqual([false, false]);
    expect(await pairings.approve('NOCODE', a, 'tv', 'ann', 1500)).toBe(false);
  });

  test('a code cannot be bound to a panel the tenant does not have', async () => {
    const { directory, newTenant, audit } = lab();
    const { pairings } = directory;
    await tenantWithPanel();
    const without = await newTenant();
    const opened = pairing();
    await pairings.open(opened);
    expect(await pairings.approve(opened.code, without, 'tv', 'mallory', 1500)).toBe(false);
    expect(await audit(without)).toEqual([]);
  });

  test('one caller collects an approved pairing, once, before it expires', async () => {
    const { directory } = lab();
    const { pairings } = directory;
    const tenant = await tenantWithPanel();
    const opened = pairing();
    await pairings.open(opened);
    expect(await pairings.collect(opened.secretHash, 1400)).toBe(false);
    await pairings.approve(opened.code, tenant, 'tv', 'ann', 1500);
    expect(await pairings.collect(opened.secretHash, 2000)).toBe(false);
    const collected = await Promise.all(
      [1, 2, 3, 4, 5].map((i) => pairings.collect(opened.secretHash, 1600 + i)),
    );
    expect(collected.filter(Boolean)).toHaveLength(1);
    expect(await pairings.collect(opened.secretHash, 1700)).toBe(false);
    expect((await pairings.findBySecret(opened.secretHash))?.collectedAt).toBeGreaterThan(1600);
  });

  test('a screen that a key approved gets no token once the key is revoked; what was collected stays', async () => {
    const { directory } = lab();
    const { pairings, credentials } = directory;
    const tenant = await tenantWithPanel();
    const key = tokenRecord(tenant, 'approver01', { kind: 'key', role: 'admin', scopes: [] });
    await credentials.add(key);
    const approved = async (by: string) => {
      const opened = pairing();
      await pairings.open(opened);
      expect(await pairings.approve(opened.code, tenant, 'tv', by, 1500)).toBe(true);
      return opened.secretHash;
    };
    const [waiting, collected] = [await approved(`key ${key.name}`), await approved(`key ${key.name}`)];
    const other = await approved('ann');
    expect(await pairings.collect(collected, 1600)).toBe(true);
    await credentials.revoke(tenant, 'key', key.id, 'x', 1650);
    expect(await pairings.collect(waiting, 1700)).toBe(false);
    expect((await pairings.findBySecret(waiting))?.expiresAt).toBeLessThan(1650);
    expect((await pairings.findBySecret(collected))?.expiresAt).toBe(2000);
    expect(await pairings.collect(other, 1700)).toBe(true);
    // A node that has not heard of the end yet.
    const late = pairing();
    await pairings.open(late);
    const approver = { kind: 'key', tenant, id: key.id, name: key.name, role: 'admin' } as const;
    expect(await pairings.approve(late.code, tenant, 'tv', `key ${key.name}`, 1700, approver)).toBe(false);
  });

  test('the sweep takes what expired before, and nothing else', async () => {
    const { pairings } = lab().directory;
    const [old, young] = [pairing({ expiresAt: 2000 }), pairing({ expiresAt: 3000 })];
    await pairings.open(old);
    await pairings.open(young);
    await pairings.sweep(3000);
    expect(await pairings.findBySecret(old.secretHash)).toBeUndefined();
    expect(await pairings.findBySecret(young.secretHash)).toBeDefined();
  });
}
