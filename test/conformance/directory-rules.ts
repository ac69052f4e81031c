import { expect, test } from 'vitest';
import { limits } from '#contract/limits.ts';
import type { RuleSpec } from '#contract/routing/rule.ts';
import type { DirectoryLab } from './directory.ts';

export function ruleSpec(id: string, over: Partial<RuleSpec> = {}): RuleSpec {
  return {
    id,
    name: `rule ${id}`,
    enabled: true,
    when: { host: ['db-*'], not: { ip: ['10.0.0.0/8'] } },
    then: { panels: { tags: ['noc'] }, setTtl: 5000 },
    continue: false,
    activeFrom: null,
    activeUntil: '2026-12-01T00:00:00.000Z',
    windows: [],
    timeZone: 'UTC',
    note: '',
    ...over,
  };
}

export function rulesConformance(lab: () => DirectoryLab): void {
  const idsOf = async (tenant: number) => (await lab().directory.rules.list(tenant)).map(({ id }) => id);

  test('a new rule stands last, whole, and uncounted', async () => {
    const { directory, newTenant, audit, reportsChange } = lab();
    const tenant = await newTenant();
    await directory.rules.create(tenant, ruleSpec('a'), 'x', 1);
    await audit(tenant);
    const spec = ruleSpec('b', { continue: true, note: 'ä "quoted"' });
    expect(
      await reportsChange(tenant, () => directory.rules.create(tenant, spec, 'ann', 1_700_000_000_000)),
    ).toBe(true);
    expect(await idsOf(tenant)).toEqual(['a', 'b']);
    expect((await directory.rules.list(tenant))[1]).toEqual({
      ...spec,
      hits: 0,
      lastHitAt: null,
      createdAt: '2023-11-14T22:13:20.000Z',
      updatedAt: '2023-11-14T22:13:20.000Z',
    });
    expect(await audit(tenant)).toMatchObject([
      {
        by: 'ann',
        action: 'rule.create',
        subject: 'b',
        detail: { name: 'rule b', when: {}, then: ruleSpec('b').then },
      },
    ]);
  });

  test('a new rule stands at the position it names, in one change; beyond the end it stands last', async () => {
    const { directory, newTenant, audit } = lab();
    const tenant = await newTenant();
    const create = (id: string, position?: number) =>
      directory.rules.create(tenant, ruleSpec(id), 'ann', 1, position);
    for (const id of ['a', 'b', 'c', 'd']) await create(id);
    await audit(tenant);
    await create('first', 1);
    await create('second', 2);
    await create('last but one', 6);
    await create('last', 99);
    expect(await idsOf(tenant)).toEqual(['first', 'second', 'a', 'b', 'c', 'last but one', 'd', 'last']);
    expect((await audit(tenant)).map(({ action }) => action)).toEqual(Array(4).fill('rule.create'));
    expect((await directory.rules.set(tenant)).revision).toBe(8);
  });

  test('several made at one position at once all get a place of their own', async () => {
    const { directory, newTenant } = lab();
    const tenant = await newTenant();
    await Promise.all(
      Array.from({ length: 8 }, (_, i) => directory.rules.create(tenant, ruleSpec(`r${i}`), 'x', 1, 1)),
    );
    expect(new Set(await idsOf(tenant)).size).toBe(8);
  });

  test('an update keeps place, creation and hits', async () => {
    const { directory, newTenant, audit, reportsChange } = lab();
    const tenant = await newTenant();
    for (const id of ['a', 'b', 'c']) await directory.rules.create(tenant, ruleSpec(id), 'x', 1000);
    await directory.rules.hit(tenant, [{ id: 'b', count: 3, at: 1500 }]);
    await audit(tenant);
    const changed = ruleSpec('b', { name: 'renamed', enabled: false });
    expect(await reportsChange(tenant, () => directory.rules.update(tenant, changed, 'ann', 2000))).toBe(
      true,
    );
    expect(await idsOf(tenant)).toEqual(['a', 'b', 'c']);
    expect((await directory.rules.list(tenant))[1]).toEqual({
      ...changed,
      hits: 3,
      lastHitAt: '1970-01-01T00:00:01.500Z',
      createdAt: '1970-01-01T00:00:01.000Z',
      updatedAt: '1970-01-01T00:00:02.000Z',
    });
    expect(await audit(tenant)).toMatchObject([
      {
        action: 'rule.update',
        subject: 'b',
        detail: {
          name: 'rule b',
          before: { enabled: true, name: 'rule b' },
          after: { enabled: false, name: 'renamed' },
        },
      },
    ]);
  });

  test('an update that changes nothing brings no new version, and is not in the audit log', async () => {
    const { directory, newTenant, audit, rows, reportsChange } = lab();
    const tenant = await newTenant();
    const made = await directory.rules.create(tenant, ruleSpec('a'), 'x', 1000);
    await audit(tenant);
    const again = async () =>
      expect(await directory.rules.update(tenant, ruleSpec('a'), 'x', 2000)).toEqual(made);
    expect(await reportsChange(tenant, again)).toBe(false);
    expect([await audit(tenant), (await rows('rules', tenant)).length]).toEqual([[], 1]);
  });

  test('of a long condition the audit log keeps the beginning', async () => {
    const { directory, newTenant, audit } = lab();
    const tenant = await newTenant();
    const hosts = Array.from({ length: 1_000 }, (_, i) => `host-${i}.example.org`);
    await directory.rules.create(tenant, ruleSpec('a', { when: { host: hosts } }), 'x', 1);
    await directory.rules.update(tenant, ruleSpec('a', { when: { host: hosts.slice(1) } }), 'x', 2);
    const [created, updated] = await audit(tenant);
    expect(created).toMatchObject({
      detail: { when: expect.stringMatching(/^\{"host":\["host-0.{1,1990}…$/) },
    });
    expect(updated).toMatchObject({
      detail: {
        before: { when: expect.stringMatching(/host-0.*…$/) },
        after: { when: expect.stringMatching(/host-1.*…$/) },
      },
    });
    expect(JSON.stringify(updated).length).toBeLessThan(6_000);
    expect((await directory.rules.list(tenant))[0]?.when).toEqual({ host: hosts.slice(1) });
  });

  test('a removed rule is gone, once, with its hits', async () => {
    const { directory, newTenant, audit } = lab();
    const tenant = await newTenant();
    for (const id of ['a', 'b', 'c']) await directory.rules.create(tenant, ruleSpec(id), 'x', 1);
    await directory.rules.hit(tenant, [{ id: 'b', count: 3, at: 1500 }]);
    await audit(tenant);
    expect(await directory.rules.remove(tenant, 'b', 'x', 2)).toBe(true);
    expect(await directory.rules.remove(tenant, 'b', 'x', 3)).toBe(false);
    expect(await directory.rules.update(tenant, ruleSpec('b'), 'x', 3)).toBeUndefined();
    expect(await idsOf(tenant)).toEqual(['a', 'c']);
    expect(await audit(tenant)).toMatchObject([
      { action: 'rule.delete', subject: 'b', detail: { name: 'rule b' } },
    ]);
    await directory.rules.hit(tenant, [{ id: 'b', count: 1, at: 9 }]);
    await directory.rules.create(tenant, ruleSpec('b'), 'x', 4);
    expect((await directory.rules.list(tenant))[2]).toMatchObject({ id: 'b', hits: 0, lastHitAt: null });
  });

  test('several made at once all get a place of their own', async () => {
    const { directory, newTenant, rows } = lab();
    const tenant = await newTenant();
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => directory.rules.create(tenant, ruleSpec(`r${i}`), 'x', 1)),
    );
    const kept = await rows('rules', tenant);
    expect(new Set(kept.map(({ ordinal }) => ordinal)).size).toBe(20);
    expect(new Set(kept.map(({ since }) => since)).size).toBe(20);
    expect((await directory.rules.set(tenant)).revision).toBe(20);
  });

  test('hits add up in bulk, keep the latest time, and are no change of configuration', async () => {
    const { directory, newTenant, audit, reportsChange } = lab();
    const tenant = await newTenant();
    for (const id of ['a', 'b']) await directory.rules.create(tenant, ruleSpec(id), 'x', 1);
    const { revision } = await directory.rules.set(tenant);
    await audit(tenant);
    const hit = async () => {
      await directory.rules.hit(tenant, [
        { id: 'a', count: 2, at: 2000 },
        { id: 'b', count: 1, at: 1000 },
      ]);
      await directory.rules.hit(tenant, [
        { id: 'a', count: 5, at: 1500 },
        { id: 'nobody', count: 1, at: 1 },
      ]);
      await directory.rules.hit(tenant, []);
    };
    expect(await reportsChange(tenant, hit)).toBe(false);
    expect(await directory.rules.list(tenant)).toMatchObject([
      { hits: 7, lastHitAt: '1970-01-01T00:00:02.000Z' },
      { hits: 1, lastHitAt: '1970-01-01T00:00:01.000Z' },
    ]);
    expect((await directory.rules.set(tenant)).revision).toBe(revision);
    expect(await audit(tenant)).toEqual([]);
  });

  test('rules of one tenant are out of another’s reach, also under the same id', async () => {
    const { directory, newTenant, audit } = lab();
    const { rules } = directory;
    const [mine, theirs] = [await newTenant(), await newTenant()];
    await rules.create(theirs, ruleSpec('a'), 'x', 1);
    expect(await idsOf(mine)).toEqual([]);
    expect(await rules.update(mine, ruleSpec('a', { name: 'stolen' }), 'x', 2)).toBeUndefined();
    expect(await rules.remove(mine, 'a', 'x', 2)).toBe(false);
    expect(await rules.order(mine, ['a'], 'x', 2)).toBe(false);
    await rules.hit(mine, [{ id: 'a', count: 9, at: 2 }]);
    expect(await rules.set(mine)).toEqual({ revision: 0, rules: [] });
    expect(await audit(mine)).toEqual([]);
    await rules.create(mine, ruleSpec('a', { name: 'mine' }), 'x', 3);
    await rules.remove(mine, 'a', 'x', 4);
    expect(await rules.list(theirs)).toMatchObject([{ id: 'a', name: 'rule a', hits: 0 }]);
  });

  test('the bound on rules holds, also for two at once', async () => {
    const { directory, newTenant, execute } = lab();
    const tenant = await newTenant();
    await execute(
      `insert into rules (tenant, id, since, "until", ordinal, spec, created_at, updated_at)
       with recursive n (i) as (select 2 union all select i + 1 from n where i < cast(? as bigint))
       select ?, 'bulk' || i, 0, null, i, '{}', 1, 1 from n`,
      [limits.rulesPerTenant, tenant],
    );
    const results = await Promise.allSettled(
      ['x', 'y'].map((id) => directory.rules.create(tenant, ruleSpec(id), 'x', 1)),
    );
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused).toMatchObject([
      { reason: { code: 'conflict', message: expect.stringContaining('20000 rules') } },
    ]);
    expect(await directory.rules.remove(tenant, 'bulk2', 'x', 1)).toBe(true);
    await directory.rules.create(tenant, ruleSpec('z'), 'x', 1);
    expect((await idsOf(tenant)).at(-1)).toBe('z');
  });
  test('the bound on the size of all rules holds; a rule may always become smaller', async () => {
    const { directory, newTenant } = lab();
    const { rules } = directory;
    const tenant = await newTenant();
    const long = (id: string, bytes: number) => ruleSpec(id, { note: 'é'.repeat(bytes / 2) });
    await rules.create(tenant, long('large', limits.rulesBytesPerTenant - 2_000), 'x', 1);
    await rules.create(tenant, ruleSpec('small'), 'x', 1);
    const full = { code: 'conflict', message: expect.stringContaining('16 MiB together') };
    await expect(rules.create(tenant, long('more', 2_000), 'x', 1)).rejects.toMatchObject(full);
    await expect(rules.create(tenant, long('first', 2_000), 'x', 1, 1)).rejects.toMatchObject(full);
    await expect(rules.update(tenant, long('small', 2_000), 'x', 1)).rejects.toMatchObject(full);
    expect(await idsOf(tenant)).toEqual(['large', 'small']);
    expect(await rules.update(tenant, ruleSpec('large'), 'x', 1)).toMatchObject({ id: 'large' });
    await rules.create(tenant, long('first', 2_000), 'x', 1, 1);
    expect(await idsOf(tenant)).toEqual(['first', 'large', 'small']);
  });
}
