import { expect, test } from 'vitest';
import type { DirectoryLab } from './directory.ts';

export function savedSearchesConformance(lab: () => DirectoryLab): void {
  const search = (id: string, name: string) => ({
    id,
    name,
    q: 'level:>=warning',
    createdAt: '2026-11-01T10:00:00.000Z',
    createdBy: 'ann',
  });

  test('a saved search is listed as it was added, by name', async () => {
    const { directory, newTenant, audit, reportsChange } = lab();
    const tenant = await newTenant();
    await directory.savedSearches.add(tenant, search('1', 'night'), 'ann', 5);
    const add = () => directory.savedSearches.add(tenant, search('2', 'day'), 'ann', 6);
    expect(await reportsChange(tenant, add)).toBe(true);
    expect(await directory.savedSearches.list(tenant)).toEqual([search('2', 'day'), search('1', 'night')]);
    expect(await audit(tenant)).toMatchObject([
      { action: 'search.create', subject: '1', at: 5, by: 'ann' },
      { action: 'search.create', subject: '2', detail: { name: 'day', q: 'level:>=warning' } },
    ]);
  });

  test('a view of alarms keeps its tab and grouping, until it is changed', async () => {
    const { directory, newTenant, audit } = lab();
    const tenant = await newTenant();
    const view = { ...search('1', 'night'), alarms: { tab: 'shelved' as const, group: 'label:site' } };
    await directory.savedSearches.add(tenant, view, 'ann', 1);
    expect(await directory.savedSearches.list(tenant)).toEqual([view]);
    const { name, q, alarms } = view;
    const update = (wanted: Parameters<typeof directory.savedSearches.update>[2]) =>
      directory.savedSearches.update(tenant, '1', wanted, 'bob', 2);
    expect(await update({ name, q, alarms: { group: 'label:site', tab: 'shelved' } })).toEqual(view);
    const other = { ...alarms, tab: 'active' as const };
    expect(await update({ name, q, alarms: other })).toEqual({ ...view, alarms: other });
    expect(await update({ name, q })).toEqual(search('1', 'night'));
    expect(await audit(tenant)).toMatchObject([
      { action: 'search.create', detail: { alarms } },
      { action: 'search.update', detail: { before: { alarms }, after: { alarms: other } } },
      { action: 'search.update', detail: { before: { alarms: other }, after: { alarms: null } } },
    ]);
  });

  test('a name that is taken is a conflict, also between several at once', async () => {
    const { directory, newTenant } = lab();
    const tenant = await newTenant();
    const results = await Promise.allSettled(
      ['1', '2', '3'].map((id) => directory.savedSearches.add(tenant, search(id, 'night'), 'x', 1)),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(directory.savedSearches.add(tenant, search('4', 'night'), 'x', 1)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('"night"'),
    });
  });

  test('there are at most 200, also when many are added at once', async () => {
    const { directory, newTenant } = lab();
    const tenant = await newTenant();
    const results = await Promise.allSettled(
      Array.from({ length: 210 }, (_, i) =>
        directory.savedSearches.add(tenant, search(`${i}`, `search ${i}`), 'x', 1),
      ),
    );
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(10);
    await expect(directory.savedSearches.add(tenant, search('new', 'new'), 'x', 1)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('200'),
    });
  });

  test('it is changed and keeps its id, by its own tenant alone; a name that is taken is a conflict', async () => {
    const { directory, newTenant, audit } = lab();
    const [mine, theirs] = [await newTenant(), await newTenant()];
    for (const [id, name] of [
      ['1', 'night'],
      ['2', 'day'],
    ] as const)
      await directory.savedSearches.add(mine, search(id, name), 'ann', 1);
    await audit(mine);
    const update = (tenant: number, name: string) =>
      directory.savedSearches.update(tenant, '1', { name, q: 'x' }, 'bob', 2);
    expect(await update(theirs, 'late')).toBe(undefined);
    await expect(update(mine, 'day')).rejects.toMatchObject({ code: 'conflict' });
    const changed = { ...search('1', 'late'), q: 'x' };
    expect(await update(mine, 'late')).toEqual(changed);
    expect(await update(mine, 'late')).toEqual(changed);
    expect(await directory.savedSearches.list(mine)).toEqual([search('2', 'day'), changed]);
    expect(await audit(mine)).toMatchObject([
      {
        ...{ action: 'search.update', subject: '1', by: 'bob' },
        detail: {
          name: 'night',
          before: { name: 'night', q: 'level:>=warning' },
          after: { name: 'late', q: 'x' },
        },
      },
    ]);
  });

  test('it is removed once, by its own tenant alone', async () => {
    const { directory, newTenant, audit } = lab();
    const [mine, theirs] = [await newTenant(), await newTenant()];
    await directory.savedSearches.add(theirs, search('1', 'night'), 'x', 1);
    await audit(theirs);
    expect(await directory.savedSearches.remove(mine, '1', 'x', 2)).toBe(false);
    expect(await directory.savedSearches.list(mine)).toEqual([]);
    expect(await directory.savedSearches.remove(theirs, '1', 'x', 3)).toBe(true);
    expect(await directory.savedSearches.remove(theirs, '1', 'x', 4)).toBe(false);
    expect(await audit(theirs)).toMatchObject([
      { action: 'search.delete', subject: '1', at: 3, detail: { name: 'night', q: 'level:>=warning' } },
    ]);
  });
}
