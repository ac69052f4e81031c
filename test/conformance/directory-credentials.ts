import { expect, test } from 'vitest';
import { limits } from '#contract/limits.ts';
import { principalOf } from '#core/people/credentials.ts';
import type { CredentialRecord } from '#core/tenants/directory.ts';
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
    expect(await directory.credentials.find(record.id)).toEqual({ ...record, tenantState: 'active' });
    await directory.tenants.setState(tenant, 'suspended', 'cli', 1);
    expect(await directory.credentials.find(record.id)).toEqual({ ...record, tenantState: 'suspended' });
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

  test('adding stands in the audit log without secret or hash, and is reported as a change', async () => {
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
    const notify = tokenRecord(tenant, newId(), { allowInUrl: true });
    await directory.credentials.add(notify);
    expect(await directory.credentials.find(notify.id)).toMatchObject(notify);
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
    expect(await directory.credentials.find(record.id)).toMatchObject({ ...record, ...patch });
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

  test('a token that may be in a URL keeps the scope notify alone, also when both change at the same time', async () => {
    const { directory, newTenant, audit } = lab();
    const tenant = await newTenant();
    const record = tokenRecord(tenant, newId());
    await directory.credentials.add(record);
    const update = (patch: Parameters<typeof directory.credentials.update>[3]) =>
      directory.credentials.update(tenant, 'token', record.id, patch, 'x', 7);
    await audit(tenant);
    const changes = await Promise.allSettled([
      update({ allowInUrl: true }),
      update({ scopes: ['notify', 'panel'] }),
    ]);
    expect(changes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const { scopes, allowInUrl } = (await directory.credentials.find(record.id)) as CredentialRecord;
    expect(allowInUrl).toBe(scopes.length === 1);
    await update(allowInUrl ? { allowInUrl: false } : { scopes: ['notify'] });
    expect(await update({ allowInUrl: true })).toEqual({ ...record, allowInUrl: true });
    expect(await audit(tenant)).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({
          detail: expect.objectContaining({ before: { allowInUrl: false }, after: { allowInUrl: true } }),
        }),
      ]),
    );
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
    expect(await credentials.find(record.id)).toMatchObject(record);
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
  test('the bound on keys in force holds, also for two at once; expired and revoked ones do not count', async () => {
    const { directory, newTenant, execute } = lab();
    const { credentials } = directory;
    const tenant = await newTenant();
    const key = () => tokenRecord(tenant, newId(), { kind: 'key', role: 'admin', createdAt: 1000 });
    const first = key();
    await credentials.add(first);
    await execute(
      `insert into credentials (tenant, id, kind, name, hash, scopes, role, allow_from, created_at, created_by, expires_at)
       with recursive n (i) as (select 2 union all select i + 1 from n where i < cast(? as bigint))
       select tenant, 'bulk-' || tenant || '-' || i, kind, name, hash, scopes, role, allow_from, created_at, created_by,
         case when i = 2 then 999 end
       from n, credentials where tenant = ? and id = ?`,
      [limits.keysPerTenant, tenant, first.id],
    );
    const results = await Promise.allSettled([key(), key()].map((record) => credentials.add(record)));
    expect(results.filter(({ status }) => status === 'rejected')).toMatchObject([
      { reason: { code: 'conflict', message: expect.stringContaining('1000 keys in force') } },
    ]);
    await credentials.add(tokenRecord(tenant, newId()));
    const expired = `bulk-${tenant}-2`;
    const renew = (patch: object) => credentials.update(tenant, 'key', expired, patch, 'x', 1000);
    await expect(renew({ expiresAt: 5000 })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('1000 keys in force'),
    });
    await expect(renew({ expiresAt: null })).rejects.toMatchObject({ code: 'conflict' });
    await renew({ name: 'renamed' });
    expect(await credentials.find(expired)).toMatchObject({ name: 'renamed', expiresAt: 999 });
    await credentials.update(tenant, 'key', first.id, { expiresAt: 5000 }, 'x', 1000);
    await credentials.revoke(tenant, 'key', first.id, 'x', 1000);
    await credentials.add(key());
    // As many ended ones are kept, those that ended last.
    await execute(
      `update credentials set revoked_at = 2000 where tenant = ? and kind = 'key' and revoked_at is null`,
      [tenant],
    );
    expect(await credentials.list(tenant, 'key')).toHaveLength(limits.keysPerTenant + 2);
    await credentials.forgetEnded(tenant, 3000);
    const left = await credentials.list(tenant, 'key');
    expect(left).toHaveLength(limits.keysPerTenant);
    expect(left.map(({ id }) => id)).not.toContain(first.id);
    expect(await credentials.list(tenant, 'token')).toHaveLength(1);
  });

  test('a key ends with its creator, also when ended keys between them are forgotten', async () => {
    const { directory, newTenant, execute } = lab();
    const { credentials } = directory;
    const tenant = await newTenant();
    const add = async (from: CredentialRecord | undefined, expiresAt: number | null = null) => {
      const given = { kind: 'key', role: 'admin', scopes: [], createdAt: 1000, expiresAt } as const;
      const record = tokenRecord(tenant, newId(), given);
      await credentials.add(record, from && principalOf({ ...from, tenantState: 'active' }));
      return record;
    };
    const first = await add(undefined);
    const between = await add(await add(first, 2000), 2000);
    const last = await add(between);
    await execute(
      `insert into credentials (tenant, id, kind, name, hash, scopes, role, allow_from, created_at, created_by, revoked_at)
       with recursive n (i) as (select 1 union all select i + 1 from n where i < cast(? as bigint))
       select tenant, 'ended-' || tenant || '-' || i, kind, name, hash, scopes, role, allow_from, created_at, created_by, 3000
       from n, credentials where tenant = ? and id = ?`,
      [limits.keysPerTenant, tenant, first.id],
    );
    await credentials.forgetEnded(tenant, 4000);
    expect(await credentials.find(between.id)).toBeUndefined();
    expect(await credentials.list(tenant, 'key')).toHaveLength(limits.keysPerTenant + 2);
    await credentials.revoke(tenant, 'key', first.id, 'x', 5000);
    expect(await credentials.find(last.id)).toMatchObject({ revokedAt: 5000 });
  });
}
