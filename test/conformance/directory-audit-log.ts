import { expect, test } from 'vitest';
import { boundAudit, forgetAudit } from '#core/tenants/audit.ts';
import { auditPage, deletions } from '#storage/directory/audit.ts';
import type { DirectoryLab } from './directory.ts';

export function auditLogConformance(lab: () => DirectoryLab): void {
  test('entries are listed as they were written, the newest first', async () => {
    const { directory, newTenant } = lab();
    const tenant = await newTenant();
    await directory.levels.put(tenant, 'deploy', { rank: 35 }, 'ann@example.org', 1_000);
    await directory.levels.remove(tenant, 'deploy', 'key ops', 2_000);
    const { entries, more } = await directory.auditLog.page({ tenant, limit: 10 });
    expect(more).toBe(false);
    expect(entries).toMatchObject([
      { at: '1970-01-01T00:00:02.000Z', by: 'key ops', action: 'level.delete', subject: 'deploy' },
      { by: 'ann@example.org', action: 'level.put', detail: { after: { rank: 35 } } },
      { action: 'tenant.create' },
    ]);
  });

  test('page by page each entry is listed once, whatever is written meanwhile', async () => {
    const { directory, newTenant } = lab();
    const tenant = await newTenant();
    for (let rank = 1; rank <= 7; rank++) await directory.levels.put(tenant, 'deploy', { rank }, 'x', rank);
    const listed: string[] = [];
    let before: string | undefined;
    for (;;) {
      const page = await directory.auditLog.page({ tenant, limit: 3, before });
      listed.push(...page.entries.map(({ at }) => at.slice(-4, -1)));
      await directory.levels.put(tenant, 'deploy', { rank: 50 + listed.length }, 'x', 9);
      before = page.entries.at(-1)?.id;
      if (!page.more) break;
    }
    expect(listed).toEqual(['007', '006', '005', '004', '003', '002', '001', '001']);
  });

  test('a page that ends with the last entry has no more', async () => {
    const { directory, newTenant } = lab();
    const tenant = await newTenant();
    await directory.levels.put(tenant, 'deploy', {}, 'x', 2);
    expect(await directory.auditLog.page({ tenant, limit: 2 })).toMatchObject({ more: false });
    expect(await directory.auditLog.page({ tenant, limit: 1 })).toMatchObject({ more: true });
  });

  test('it is filtered by action or kind of action, by who and by what, and all of them together', async () => {
    const { directory, newTenant } = lab();
    const tenant = await newTenant();
    await directory.levels.put(tenant, 'deploy', { rank: 1 }, 'ann', 2);
    await directory.levels.put(tenant, 'info', { rank: 1 }, 'bob', 3);
    await directory.levels.remove(tenant, 'deploy', 'bob', 4);
    const filtered = async (filter: object) =>
      (await directory.auditLog.page({ tenant, limit: 10, ...filter })).entries.map(
        ({ action, subject }) => `${action} ${subject}`,
      );
    expect(await filtered({ action: 'level.put' })).toEqual(['level.put info', 'level.put deploy']);
    expect(await filtered({ action: 'level' })).toHaveLength(3);
    expect(await filtered({ action: 'lev' })).toEqual([]);
    expect(await filtered({ action: 'level._ut' })).toEqual([]);
    expect(await filtered({ by: 'bob' })).toEqual(['level.delete deploy', 'level.put info']);
    expect(await filtered({ subject: 'deploy' })).toEqual(['level.delete deploy', 'level.put deploy']);
    expect(await filtered({ subject: 'deploy', by: 'ann', action: 'level' })).toEqual(['level.put deploy']);
    expect(await filtered({ by: "' or 1=1 --" })).toEqual([]);
  });

  test('the log of one tenant is unknown to another', async () => {
    const { directory, newTenant } = lab();
    const [mine, theirs] = [await newTenant(), await newTenant()];
    await directory.levels.put(theirs, 'deploy', { rank: 1 }, 'x', 1);
    const { entries } = await directory.auditLog.page({ tenant: theirs, limit: 1 });
    const page = await directory.auditLog.page({ tenant: mine, limit: 10, before: entries[0]?.id });
    expect(page.entries.map(({ action }) => action)).toEqual(['tenant.create']);
  });

  test('of 100,000 entries a page is read by the primary key, whatever the filters, without sorting', async () => {
    const { directory, newTenant, execute, planOf, db } = lab();
    const tenant = await newTenant();
    await execute(
      `insert into audit (tenant, id, at, "by", action, subject, detail)
       with recursive n (i) as (select 1 union all select i + 1 from n where i < 100000)
       select ?, 'ffffffff-0000-7000-8000-' || substr(cast(1000000000000 + i as text), 2), i,
         case when i = 7 then 'rare' else 'key ops' end, 'rule.update', 'r', '{}' from n`,
      [tenant],
    );
    const query = { tenant, limit: 50, before: 'ffffffff-0000-7000-8000-000000050000' };
    const { entries, more } = await directory.auditLog.page(query);
    expect([entries.length, more, entries[0]?.id.slice(-5), entries.at(-1)?.id.slice(-5)]).toEqual([
      50,
      true,
      '49999',
      '49950',
    ]);
    expect((await directory.auditLog.page({ ...query, by: 'rare' })).entries).toHaveLength(1);
    for (const filter of [{}, { by: 'key ops' }, { action: 'rule', subject: 'r' }]) {
      const plan = await planOf(auditPage(db, { ...query, ...filter }));
      expect({ filter, ...plan }).toEqual({ filter, index: 'primary key', sorts: false });
    }
  });

  test('the sweep drops what was written before a time, some at a time, and tells when there is no more', async () => {
    const { directory, newTenant, execute, rows } = lab();
    const tenant = await newTenant();
    const written = Date.UTC(2024, 1, 2);
    const at = (ms: number) => {
      const hex = ms.toString(16).padStart(12, '0');
      return `${hex.slice(0, 8)}-${hex.slice(8)}-7`;
    };
    await execute(
      `insert into audit (tenant, id, at, "by", action, subject, detail)
       with recursive n (i) as (select 1 union all select i + 1 from n where i < 1200)
       select ?, cast(? as text) || i, 1, 'x', 'rule.update', 'r', '{}' from n`,
      [tenant, at(written)],
    );
    await execute(
      `insert into audit select tenant, cast(? as text) || 'kept', at, "by", action, subject, detail
      from audit where tenant = ? and id = cast(? as text) || '1'`,
      [at(written + 1), tenant, at(written)],
    );
    const { auditLog } = directory;
    expect(await auditLog.sweep(written)).toBe(0);
    let dropped = 0;
    for (let some = -1; some !== 0; dropped += some) some = await auditLog.sweep(written + 1);
    expect(dropped).toBe(1200);
    const left = await rows('audit', tenant);
    expect(left.map(({ id }) => id)).toEqual([`${at(written + 1)}kept`, left.at(-1)?.id]);
  });

  test('entries are kept for a year', async () => {
    const { directory, newTenant, execute, rows } = lab();
    const tenant = await newTenant();
    const now = Date.UTC(2025, 5, 1);
    for (const days of [364, 365, 366, 367, 700]) {
      const hex = (now - days * 86_400_000).toString(16).padStart(12, '0');
      await execute(
        `insert into audit (tenant, id, at, "by", action, subject, detail) values (?, ?, 1, 'x', 'y', ?, '{}')`,
        [tenant, `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`, `${days}`],
      );
    }
    await forgetAudit(directory.auditLog, now, () => true);
    expect(await rows('audit', tenant)).toHaveLength(6);
    await forgetAudit(directory.auditLog, now, () => false);
    const left = (await rows('audit', tenant)).map(({ subject }) => subject);
    expect(left.slice(0, -1)).toEqual(['366', '365', '364']);
  });

  test('the oldest entries of a tenant that has more than fits are deleted', async () => {
    const { directory, newTenant, execute, rows } = lab();
    const [tenant, other] = [await newTenant(), await newTenant()];
    await execute(
      `insert into audit (tenant, id, at, "by", action, subject, detail)
       with recursive n (i) as (select 1 union all select i + 1 from n where i < 2500)
       select ?, '00000000-0000-7000-8000-' || substr(cast(1000000000000 + i as text), 2), i, 'x', 'rule.update', 'r', ?
       from n`,
      [tenant, JSON.stringify('d'.repeat(798))],
    );
    await boundAudit(directory.auditLog, tenant, () => false, 1_200_000);
    const left = (await rows('audit', tenant)).map(({ id }) => String(id)).sort();
    // 1,200 entries of 1,000 bytes, less what the one of the tenant's creation takes.
    expect([left.length, left[0]?.slice(-4)]).toEqual([1_200, '1302']);
    expect(await rows('audit', other)).toHaveLength(1);
  });

  test('an entry that changes no configuration is the newest, too', async () => {
    const { directory, newTenant, reportsChange } = lab();
    const [tenant, other] = [await newTenant(), await newTenant()];
    const newestOf = async (wanted: number) =>
      (await directory.auditLog.newest()).find((each) => each.tenant === wanted)?.id;
    const panel = { id: 'p1', name: 'lobby', tags: [], location: null };
    await directory.panels.register(tenant, panel, 'x', 1);
    const before = [await newestOf(tenant), await newestOf(other)];
    const note = () => directory.panels.noteCommand(tenant, 'p1', 'identify', 'x', 2);
    expect(await reportsChange(tenant, note)).toBe(false);
    const { entries } = await directory.auditLog.page({ tenant, limit: 1 });
    expect(entries).toMatchObject([{ action: 'panel.identify', id: await newestOf(tenant) }]);
    expect(entries[0]?.id).not.toBe(before[0]);
    expect(await newestOf(other)).toBe(before[1]);
  });

  test('deleted levels and panels keep their names, the last deleted first, each tenant its own', async () => {
    const { directory, newTenant, planOf, db } = lab();
    const [tenant, other] = [await newTenant(), await newTenant()];
    const panel = (id: string, name: string) => ({ id, name, tags: [`tag ${id}`], location: null });
    for (const each of [tenant, other]) await directory.levels.put(each, 'deploy', { rank: 35 }, 'x', 1);
    await directory.levels.remove(tenant, 'deploy', 'x', 2);
    for (const id of ['a', 'b']) {
      await directory.panels.register(tenant, panel(id, 'lobby'), 'x', 3);
      await directory.panels.remove(tenant, id, 'x', id === 'a' ? 4 : 5);
    }
    expect(await directory.levels.deleted(tenant)).toEqual([{ name: 'deploy', rank: 35 }]);
    expect(await directory.panels.deleted(tenant)).toEqual([
      { id: 'b', name: 'lobby', tags: ['tag b'], deletedAt: 5 },
      { id: 'a', name: 'lobby', tags: ['tag a'], deletedAt: 4 },
    ]);
    expect([await directory.levels.deleted(other), await directory.panels.deleted(other)]).toEqual([[], []]);
    expect(await planOf(deletions(db, tenant, 'panel.delete'))).toMatchObject({
      index: 'audit_deletions',
    });
  });
}
