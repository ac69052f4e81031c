import { expect, test } from 'vitest';
import type { DirectoryLab } from './directory.ts';
import { ruleSpec } from './directory-rules.ts';

export function ruleVersionsConformance(lab: () => DirectoryLab): void {
  const start = async (...ids: string[]) => {
    const { newTenant, directory, audit } = lab();
    const tenant = await newTenant();
    for (const id of ids) await directory.rules.create(tenant, ruleSpec(id), 'x', 1);
    await audit(tenant);
    return { ...lab(), tenant, rules: directory.rules };
  };
  const idsOf = async (tenant: number) => (await lab().directory.rules.list(tenant)).map(({ id }) => id);

  test('a tenant without rules has the empty set of revision 0', async () => {
    const { tenant, rules } = await start();
    expect(await rules.set(tenant)).toEqual({ revision: 0, rules: [] });
  });

  test('every set that ever was in force can be read again', async () => {
    const { tenant, rules } = await start();
    const sets = [await rules.set(tenant)];
    const step = async (work: Promise<unknown>) => {
      await work;
      sets.push(await rules.set(tenant));
    };
    await step(rules.create(tenant, ruleSpec('a'), 'x', 1));
    await step(rules.create(tenant, ruleSpec('b'), 'x', 2));
    await step(rules.update(tenant, ruleSpec('a', { name: 'a, second' }), 'x', 3));
    await step(rules.create(tenant, ruleSpec('c'), 'x', 4));
    await step(rules.order(tenant, ['c', 'a', 'b'], 'x', 5));
    await step(rules.update(tenant, ruleSpec('a', { name: 'a, third' }), 'x', 6));
    await step(rules.remove(tenant, 'c', 'x', 7));
    await step(rules.order(tenant, ['b', 'a'], 'x', 8));
    await step(rules.remove(tenant, 'a', 'x', 9));
    await step(rules.create(tenant, ruleSpec('d'), 'x', 10, 1));
    await step(rules.create(tenant, ruleSpec('e'), 'x', 11, 2));
    expect(sets.map(({ revision }) => revision)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(sets.map(({ rules }) => rules.map(({ name }) => name))).toEqual([
      [],
      ['rule a'],
      ['rule a', 'rule b'],
      ['a, second', 'rule b'],
      ['a, second', 'rule b', 'rule c'],
      ['rule c', 'a, second', 'rule b'],
      ['rule c', 'a, third', 'rule b'],
      ['a, third', 'rule b'],
      ['rule b', 'a, third'],
      ['rule b'],
      ['rule d', 'rule b'],
      ['rule d', 'rule e', 'rule b'],
    ]);
    for (const then of sets) expect(await rules.setAt(tenant, then.revision)).toEqual(then);
    expect(await rules.setAt(tenant, 99)).toEqual(sets.at(-1));
  });

  test('rules that were deleted or renamed are known by the names they had, for as long as versions of them are kept', async () => {
    const { tenant, rules } = await start('a', 'b', 'c');
    await rules.update(tenant, ruleSpec('a', { name: 'renamed' }), 'x', 2);
    await rules.order(tenant, ['c', 'b', 'a'], 'x', 3);
    await rules.remove(tenant, 'b', 'x', 4);
    const names = async () =>
      (await rules.formerNames(tenant)).map(({ id, name }) => `${id}: ${name}`).sort();
    expect((await names()).filter((each) => !each.startsWith('c'))).toEqual(['a: rule a', 'b: rule b']);
    await rules.prune(tenant, (await rules.set(tenant)).revision);
    expect(await names()).toEqual([]);
  });

  test('the set in force holds the same rules in the same order as the list', async () => {
    const { tenant, rules } = await start('a', 'b', 'c');
    await rules.order(tenant, ['c', 'b', 'a'], 'x', 2);
    const { rules: set } = await rules.set(tenant);
    expect(set).toEqual(['c', 'b', 'a'].map((id) => ruleSpec(id)));
    expect(await idsOf(tenant)).toEqual(['c', 'b', 'a']);
  });

  test('an update by a set that is out of date for this rule changes nothing; by one that is not, it does', async () => {
    const { tenant, rules } = await start('a', 'b');
    const { revision } = await rules.set(tenant);
    await rules.update(tenant, ruleSpec('b', { name: 'b, second' }), 'x', 2, revision);
    const late = ruleSpec('b', { name: 'b, late' });
    expect(await rules.update(tenant, late, 'x', 3, revision)).toBeUndefined();
    expect(await rules.update(tenant, ruleSpec('a', { name: 'a, second' }), 'x', 3, revision)).toBeDefined();
    expect((await rules.list(tenant)).map(({ name }) => name)).toEqual(['a, second', 'b, second']);
  });

  test('versions that had ended at a revision can be forgotten; sets from there on are read as before', async () => {
    const { tenant, rules, rows, newTenant } = await start('a', 'b');
    const other = await newTenant();
    await rules.create(other, ruleSpec('a'), 'x', 1);
    await rules.update(other, ruleSpec('a', { name: 'second' }), 'x', 1);
    for (let i = 0; i < 600; i++) await rules.update(tenant, ruleSpec('a', { name: `a ${i}` }), 'x', 3);
    await rules.remove(tenant, 'b', 'x', 4);
    const { revision } = await rules.set(tenant);
    const sets = await Promise.all([1, 0].map((back) => rules.setAt(tenant, revision - back)));
    await rules.prune(tenant, revision - 1);
    expect(await Promise.all([1, 0].map((back) => rules.setAt(tenant, revision - back)))).toEqual(sets);
    expect(await rows('rules', tenant)).toHaveLength(2);
    await rules.prune(tenant, revision);
    expect(await rows('rules', tenant)).toHaveLength(1);
    expect(await rows('rules', other)).toHaveLength(2);
  });

  test('earlier versions beyond 32 MiB are deleted, the oldest first; what is left of their sets is not returned', async () => {
    const { tenant, rules, rows } = await start();
    const note = 'n'.repeat(400_000);
    const ids = Array.from({ length: 38 }, (_, i) => `r${i}`);
    for (const id of ids) await rules.create(tenant, ruleSpec(id, { note }), 'x', 1);
    const { revision: first } = await rules.set(tenant);
    for (let n = 0; n < 5; n++) {
      const before = await rules.set(tenant);
      expect(await rules.order(tenant, [...(await idsOf(tenant))].reverse(), 'x', 2)).toBe(true);
      expect(await rules.setAt(tenant, before.revision)).toEqual(before);
      const earlier = (await rows('rules', tenant)).filter(({ until }) => until !== null);
      expect(earlier.length).toBe(Math.min(n + 1, 2) * (ids.length - 1));
    }
    expect(await rules.setAt(tenant, first)).toBeUndefined();
    // What a change adds beyond that goes with the next MiB.
    for (let n = 0; n < 15; n++) await rules.update(tenant, ruleSpec('r0', { note: note + n }), 'x', 3 + n);
    const earlier = (await rows('rules', tenant)).filter(({ until }) => until !== null);
    const bytes = earlier.reduce((sum, { spec }) => sum + String(spec).length, 0);
    expect(bytes).toBeLessThan(33.5 * 1024 * 1024);
  });

  test('what changes nothing brings no revision', async () => {
    const { tenant, rules, audit, reportsChange } = await start('a', 'b');
    const nothing = async () => {
      await rules.update(tenant, ruleSpec('nobody'), 'x', 2);
      await rules.remove(tenant, 'nobody', 'x', 2);
      await rules.order(tenant, ['b'], 'x', 2);
      expect(await rules.order(tenant, ['a', 'b'], 'x', 2)).toBe(true);
    };
    expect(await reportsChange(tenant, nothing)).toBe(false);
    expect((await rules.set(tenant)).revision).toBe(2);
    expect(await audit(tenant)).toEqual([]);
  });

  test('an order is one revision and one line of the audit log, and renumbers only what moves', async () => {
    const { tenant, rules, audit, reportsChange, rows } = await start('a', 'b', 'c', 'd', 'e');
    expect(await reportsChange(tenant, () => rules.order(tenant, ['a', 'c', 'b', 'd', 'e'], 'ann', 9))).toBe(
      true,
    );
    expect(await idsOf(tenant)).toEqual(['a', 'c', 'b', 'd', 'e']);
    expect((await rules.set(tenant)).revision).toBe(6);
    expect(await rows('rules', tenant)).toHaveLength(6);
    expect(await audit(tenant)).toMatchObject([
      {
        by: 'ann',
        at: 9,
        action: 'rule.order',
        detail: { moved: 1, before: ['b', 'c'], after: ['c', 'b'] },
      },
    ]);
  });

  test('an order keeps creation, update and hits of what it moves', async () => {
    const { tenant, rules } = await start('a', 'b');
    await rules.hit(tenant, [{ id: 'b', count: 4, at: 5 }]);
    const [, before] = await rules.list(tenant);
    await rules.order(tenant, ['b', 'a'], 'x', 1000);
    expect((await rules.list(tenant))[0]).toEqual(before);
  });

  test.each([
    ['one is missing', ['a', 'b']],
    ['one is named twice', ['a', 'b', 'b']],
    ['one is named twice besides all', ['a', 'b', 'c', 'c']],
    ['one is unknown', ['a', 'b', 'nobody']],
    ['one is unknown besides all', ['a', 'b', 'c', 'nobody']],
    ['none is named', []],
  ])('an order is refused when %s', async (_, ids) => {
    const { tenant, rules } = await start('a', 'b', 'c');
    expect(await rules.order(tenant, ids, 'x', 2)).toBe(false);
    expect(await idsOf(tenant)).toEqual(['a', 'b', 'c']);
  });

  test('more rules than one statement takes can be ordered at once', async () => {
    const { tenant, rules } = await start();
    const ids = Array.from({ length: 600 }, (_, i) => `r${i}`);
    // A few at once: all together would wait longer for a connection than a request may.
    for (let from = 0; from < ids.length; from += 20)
      await Promise.all(ids.slice(from, from + 20).map((id) => rules.create(tenant, ruleSpec(id), 'x', 1)));
    const { revision } = await rules.set(tenant);
    const turned = [...(await idsOf(tenant))].reverse();
    expect(await rules.order(tenant, turned, 'x', 2)).toBe(true);
    expect(await idsOf(tenant)).toEqual(turned);
    expect(await rules.set(tenant)).toMatchObject({ revision: revision + 1 });
    expect((await rules.setAt(tenant, revision))?.rules.map(({ id }) => id)).toEqual(turned.reverse());
  });

  test('of two orders at once the later one holds as a whole', async () => {
    const { tenant, rules, rows } = await start('a', 'b', 'c');
    const orders = [
      ['b', 'a', 'c'],
      ['a', 'c', 'b'],
    ];
    expect(await Promise.all(orders.map((ids) => rules.order(tenant, ids, 'x', 2)))).toEqual([true, true]);
    expect(orders).toContainEqual(await idsOf(tenant));
    const inForce = (await rows('rules', tenant)).filter(({ until }) => until === null);
    expect(new Set(inForce.map(({ ordinal }) => ordinal)).size).toBe(3);
  });

  test('orders, updates, new and removed rules at once leave every rule in one place with one version', async () => {
    const { tenant, rules, rows } = await start('a', 'b', 'c', 'd');
    const results = await Promise.allSettled([
      rules.order(tenant, ['d', 'c', 'b', 'a'], 'x', 2),
      rules.update(tenant, ruleSpec('a', { name: 'updated' }), 'x', 2),
      rules.create(tenant, ruleSpec('e'), 'x', 2),
      rules.order(tenant, ['b', 'a', 'd', 'c'], 'x', 2),
      rules.update(tenant, ruleSpec('b', { name: 'updated' }), 'x', 2),
      rules.remove(tenant, 'c', 'x', 2),
      rules.update(tenant, ruleSpec('a', { name: 'updated again' }), 'x', 2),
    ]);
    expect(results.filter(({ status }) => status === 'rejected')).toEqual([]);
    const inForce = (await rows('rules', tenant)).filter(({ until }) => until === null);
    expect(inForce.map(({ id }) => id).sort()).toEqual(['a', 'b', 'd', 'e']);
    expect(new Set(inForce.map(({ ordinal }) => ordinal)).size).toBe(4);
    const { revision } = await rules.set(tenant);
    for (let at = 4; at <= revision; at++) {
      const ids = (await rules.setAt(tenant, at))?.rules.map(({ id }) => id) ?? [];
      expect(new Set(ids).size).toBe(ids.length);
    }
  });
}
