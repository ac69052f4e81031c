import { expect, test } from 'vitest';
import type { DirectoryLab } from './directory.ts';

export function mappingsConformance(lab: () => DirectoryLab): void {
  const spec = (title: string) => ({
    items: '/a',
    fields: { title, level: '{/sev}' },
    labels: { env: '{/env}' },
    levels: { '*': 'error' },
  });

  test('a mapping is created and replaced, listed by name, and every change is reported and audited', async () => {
    const { directory, newTenant, audit, reportsChange } = lab();
    const [mine, theirs] = [await newTenant(), await newTenant()];
    const { mappings } = directory;
    await mappings.put(theirs, 'ups', spec('theirs'), 'x', 1);
    expect(await reportsChange(mine, () => mappings.put(mine, 'ups', spec('1'), 'ann', 5))).toBe(true);
    await mappings.put(mine, 'nas', { fields: { title: 't' } }, 'ann', 6);
    expect(await reportsChange(mine, () => mappings.put(mine, 'ups', spec('2'), 'ben', 7))).toBe(true);
    const at = '1970-01-01T00:00:00.007Z';
    expect(await mappings.list(mine)).toEqual([
      { name: 'nas', fields: { title: 't' }, updatedAt: '1970-01-01T00:00:00.006Z', updatedBy: 'ann' },
      { name: 'ups', ...spec('2'), updatedAt: at, updatedBy: 'ben' },
    ]);
    expect(await audit(mine)).toMatchObject([
      { action: 'mapping.put', subject: 'ups', by: 'ann', detail: { before: null, after: spec('1') } },
      { action: 'mapping.put', subject: 'nas' },
      { action: 'mapping.put', subject: 'ups', by: 'ben', detail: { before: spec('1'), after: spec('2') } },
    ]);
  });

  test('it is removed once, by its own tenant alone', async () => {
    const { directory, newTenant, audit } = lab();
    const [mine, theirs] = [await newTenant(), await newTenant()];
    await directory.mappings.put(theirs, 'ups', spec('1'), 'x', 1);
    expect(await directory.mappings.remove(mine, 'ups', 'x', 2)).toBe(false);
    expect(await directory.mappings.remove(theirs, 'ups', 'x', 3)).toBe(true);
    expect(await directory.mappings.remove(theirs, 'ups', 'x', 4)).toBe(false);
    expect(await directory.mappings.list(theirs)).toEqual([]);
    expect(await audit(theirs)).toMatchObject([
      { action: 'mapping.put' },
      { action: 'mapping.delete', at: 3 },
    ]);
  });

  test('there are at most 100, and those are replaced further on', async () => {
    const { directory, newTenant } = lab();
    const tenant = await newTenant();
    const put = (name: string) => directory.mappings.put(tenant, name, spec('t'), 'x', 1);
    const results = await Promise.allSettled(Array.from({ length: 105 }, (_, i) => put(`m${i}`)));
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(5);
    await expect(put('new')).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('100'),
    });
    const [first] = await directory.mappings.list(tenant);
    await put(first?.name ?? '');
  });
}
