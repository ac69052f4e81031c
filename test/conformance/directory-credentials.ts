import { expect, test } from 'vitest';
import { type DirectoryLab, tokenRecord } from './directory.ts';

export function credentialsConformance(lab: () => DirectoryLab): void {
  let made = 0;
  const newId = () => `cred${String(++made).padStart(6, '0')}`;

  test('what was added is found by its public id alone, whole', async () => {
    const { directory, newTenant } = lab();
    const tenant = await newTenant();
    const record = tokenRecord(tenant, newId(), {
      scopes: ['notify', 'panel'],
      rate: { perSecond: 2, burst: 9 },
      panelId: 'p1',
      allowFrom: ['10.0.0.0/8'],
      expiresAt: 9000,
    });
    await directory.credentials.add(record);
    expect(await directory.credentials.find(record.id)).toEqual(record);
    expect(await directory.credentials.find('nosuchcred')).toBeUndefined();
  });

  test('tokens and keys are listed apart, oldest first, revoked ones included', async () => {
    const { directory, newTenant } = lab();
    const tenant = await newTenant();
    const key = tokenRecord(tenant, newId(), { kind: 'key', role: 'admin', scopes: [] });
    const late = tokenRecord(tenant, newId(), { createdAt: 2000 });
    const early = tokenRecord(tenant, newId(), { createdAt: 1000 });
    for (const record of [key, late, early]) await directory.credentials.add(record);
    await directory.credentials.revoke(tenant, 'token', early.id, 'x', 3000);
    expect((await directory.credentials.list(tenant, 'token')).map(({ id }) => id)).toEqual([
      early.id,
      late.id,
    ]);
    expect(await directory.credentials.list(tenant, 'key')).toEqual([key]);
  });

  test('adding stands in the audit log without secret or hash, and is told as a change', async () => {
    const { directory, newTenant, audit, reportsChange } = lab();
    const tenant = await newTenant();
    const record = tokenRecord(tenant, newId(), { createdBy: 'ann@example.org', createdAt: 42 });
    expect(await reportsChange(tenant, () => directory.credentials.add(record))).toBe(true);
    const rows = await audit(tenant);
    expect(rows).toMatchObject([
      {
        at: 42,
        by: 'ann@example.org',
        action: 'token.create',
        subject: record.id,
        detail: { name: record.name },
      },
    ]);
    expect(JSON.stringify(rows)).not.toContain(record.hash);
  });

  test('an update changes what it names; null ends an expiry', async () => {
    const { directory, newTenant, audit, reportsChange } = lab();
    const tenant = await newTenant();
    const record = tokenRecord(tenant, newId(), { expiresAt: 5000 });
    await directory.credentials.add(record);
    await audit(tenant);
    const patch = {
      name: 'renamed',
      scopes: ['metrics'],
      rate: 'off',
      expiresAt: null,
      allowFrom: ['::1'],
    } as const;
    const update = () => directory.credentials.update(tenant, 'token', record.id, patch, 'x', 7);
    expect(await reportsChange(tenant, update)).toBe(true);
    expect(await directory.credentials.find(record.id)).toEqual({ ...record, ...patch });
    expect(await audit(tenant)).toMatchObject([
      {
        action: 'token.update',
        subject: record.id,
        detail: {
          before: {
            name: record.name,
            scopes: ['notify'],
            rate: null,
            expiresAt: '1970-01-01T00:00:05.000Z',
            allowFrom: [],
          },
          after: patch,
        },
      },
    ]);
    const same = await directory.credentials.update(tenant, 'token', record.id, {}, 'x', 8);
    expect(same).toEqual({ ...record, ...patch });
  });

  test('a second revocation keeps the first time and is no change', async () => {
    const { directory, newTenant, audit, reportsChange } = lab();
    const tenant = await newTenant();
    const record = tokenRecord(tenant, newId());
    await directory.credentials.add(record);
    await audit(tenant);
    const revoke = (at: number) => directory.credentials.revoke(tenant, 'token', record.id, 'x', at);
    expect(await reportsChange(tenant, () => revoke(5000))).toBe(true);
    expect(await reportsChange(tenant, () => revoke(6000))).toBe(false);
    expect(await revoke(7000)).toEqual({ ...record, revokedAt: 5000 });
    expect(await audit(tenant)).toMatchObject([
      { action: 'token.revoke', detail: { name: record.name, scopes: ['notify'], expiresAt: null } },
    ]);
  });

  test('of several revocations at the same time one counts', async () => {
    const { directory, newTenant, audit } = lab();
    const tenant = await newTenant();
    const record = tokenRecord(tenant, newId());
    await directory.credentials.add(record);
    await audit(tenant);
    const revoked = await Promise.all(
      [1, 2, 3, 4, 5].map((at) => directory.credentials.revoke(tenant, 'token', record.id, 'x', at)),
    );
    const times = new Set(revoked.map((record) => record?.revokedAt));
    expect(times.size).toBe(1);
    expect(await audit(tenant)).toHaveLength(1);
  });

  test('another tenant’s credential, and one of the other kind, can be neither changed nor revoked', async () => {
    const { directory, newTenant, audit } = lab();
    const [mine, theirs] = [await newTenant(), await newTenant()];
    const record = tokenRecord(theirs, newId());
    await directory.credentials.add(record);
    const { credentials } = directory;
    expect(await credentials.update(mine, 'token', record.id, { name: 'stolen' }, 'x', 1)).toBeUndefined();
    expect(await credentials.revoke(mine, 'token', record.id, 'x', 1)).toBeUndefined();
    expect(await credentials.update(theirs, 'key', record.id, { name: 'stolen' }, 'x', 1)).toBeUndefined();
    expect(await credentials.revoke(theirs, 'key', record.id, 'x', 1)).toBeUndefined();
    expect(await credentials.list(mine, 'token')).toEqual([]);
    expect(await credentials.find(record.id)).toEqual(record);
    expect(await audit(mine)).toEqual([]);
  });

  test('a tenant that does not exist gets none', async () => {
    const { credentials } = lab().directory;
    const record = tokenRecord(987_654, newId());
    await expect(credentials.add(record)).rejects.toMatchObject({ code: 'not-found' });
    expect(await credentials.find(record.id)).toBeUndefined();
  });

  test('uses are noted in bulk, the latest wins, and they are no change of configuration', async () => {
    const { directory, newTenant, audit, reportsChange } = lab();
    const [a, b] = [await newTenant(), await newTenant()];
    const [first, second] = [tokenRecord(a, newId()), tokenRecord(b, newId())];
    await directory.credentials.add(first);
    await directory.credentials.add(second);
    await audit(a);
    const { credentials } = directory;
    const touch = () =>
      credentials.touch([
        { tenant: a, id: first.id, at: 200, from: '10.0.0.2' },
        { tenant: b, id: second.id, at: 300, from: '10.0.0.3' },
        { tenant: a, id: first.id, at: 100, from: '10.0.0.1' },
        { tenant: a, id: second.id, at: 900, from: 'another tenant’s' },
      ]);
    expect(await reportsChange(a, touch)).toBe(false);
    expect(await credentials.find(first.id)).toMatchObject({ lastUsedAt: 200, lastUsedFrom: '10.0.0.2' });
    expect(await credentials.find(second.id)).toMatchObject({ lastUsedAt: 300, lastUsedFrom: '10.0.0.3' });
    expect(await audit(a)).toEqual([]);
    await credentials.touch([]);
  });
}
