import { expect, test } from 'vitest';
import { limits } from '#contract/limits.ts';
import type { LevelPut } from '#contract/routing/level.ts';
import { builtInStyles } from '#contract/routing/level-styles.ts';
import { newRule } from '#core/routing/rules.ts';
import type { DirectoryLab } from './directory.ts';

export function levelsConformance(lab: () => DirectoryLab): void {
  const customOf = async (tenant: number) =>
    (await lab().directory.levels.list(tenant)).filter(({ builtIn }) => !builtIn);

  test('an unknown level is registered with the rank and look of info', async () => {
    const { directory, newTenant, audit, reportsChange } = lab();
    const tenant = await newTenant();
    expect(
      await reportsChange(tenant, () => directory.levels.register(tenant, 'deploy', 'token ci', 5)),
    ).toBe(true);
    expect(await customOf(tenant)).toEqual([{ name: 'deploy', builtIn: false, ...builtInStyles.info }]);
    expect(await audit(tenant)).toMatchObject([
      { at: 5, by: 'token ci', action: 'level.register', subject: 'deploy' },
    ]);
  });

  test('registering a known level leaves it as it is and is no change', async () => {
    const { directory, newTenant, reportsChange } = lab();
    const tenant = await newTenant();
    await directory.levels.put(tenant, 'deploy', { rank: 35 }, 'x', 1);
    const again = async () =>
      expect(await directory.levels.register(tenant, 'deploy', 'token ci', 2)).toBe(true);
    expect(await reportsChange(tenant, again)).toBe(false);
    expect(await directory.levels.register(tenant, 'critical', 'token ci', 2)).toBe(true);
    expect(await customOf(tenant)).toMatchObject([{ name: 'deploy', rank: 35 }]);
  });

  test('registered by many at once it is there once', async () => {
    const { directory, newTenant } = lab();
    const tenant = await newTenant();
    const known = await Promise.all(
      Array.from({ length: 10 }, () => directory.levels.register(tenant, 'deploy', 'token ci', 1)),
    );
    expect(known).toEqual(Array(10).fill(true));
    expect(await customOf(tenant)).toHaveLength(1);
  });

  test('built-in ones are listed first, then the others by name', async () => {
    const { directory, newTenant } = lab();
    const tenant = await newTenant();
    for (const name of ['zulu', 'alpha', 'mike'])
      await directory.levels.register(tenant, name, 'token ci', 1);
    expect((await directory.levels.list(tenant)).map(({ name }) => name)).toEqual([
      ...Object.keys(builtInStyles),
      'alpha',
      'mike',
      'zulu',
    ]);
  });

  test('a put keeps what it does not name, and restyles built-in levels too', async () => {
    const { directory, newTenant, audit, reportsChange } = lab();
    const tenant = await newTenant();
    const put = () => directory.levels.put(tenant, 'info', { color: '#000000', durationMs: 0 }, 'ann', 9);
    expect(await reportsChange(tenant, put)).toBe(true);
    const expected = { name: 'info', builtIn: true, ...builtInStyles.info, color: '#000000', durationMs: 0 };
    expect((await directory.levels.list(tenant))[1]).toEqual(expected);
    expect(await audit(tenant)).toMatchObject([
      {
        at: 9,
        by: 'ann',
        action: 'level.put',
        subject: 'info',
        detail: {
          before: { color: builtInStyles.info.color, durationMs: builtInStyles.info.durationMs },
          after: { color: '#000000', durationMs: 0 },
        },
      },
    ]);
    expect(await directory.levels.put(tenant, 'info', {}, 'ann', 10)).toEqual(expected);
  });

  test('the time of acknowledgements is kept until a put says 0, and the audit log has it', async () => {
    const { directory, newTenant, audit } = lab();
    const tenant = await newTenant();
    const put = (style: LevelPut) => directory.levels.put(tenant, 'error', style, 'ann', 9);
    expect(await put({ acknowledgeForMs: 3_600_000 })).toMatchObject({ acknowledgeForMs: 3_600_000 });
    expect(await put({ rank: 41 })).toMatchObject({ rank: 41, acknowledgeForMs: 3_600_000 });
    expect(await put({ acknowledgeForMs: 0 })).not.toHaveProperty('acknowledgeForMs');
    expect((await audit(tenant)).filter(({ action }) => action === 'level.put')).toMatchObject([
      { detail: { after: { acknowledgeForMs: 3_600_000 } } },
      { detail: { after: { rank: 41 } } },
      { detail: { before: { acknowledgeForMs: 3_600_000 }, after: { acknowledgeForMs: 0 } } },
    ]);
  });

  test('a put makes a level that is not there, with the look info has in this tenant', async () => {
    const { directory, newTenant } = lab();
    const tenant = await newTenant();
    await directory.levels.put(tenant, 'info', { icon: 'bell' }, 'x', 1);
    expect(await directory.levels.put(tenant, 'page', { rank: 60, sound: 'alarm' }, 'x', 1)).toEqual({
      name: 'page',
      builtIn: false,
      ...builtInStyles.info,
      icon: 'bell',
      rank: 60,
      sound: 'alarm',
    });
  });

  test('a custom level can be deleted once, a built-in one never', async () => {
    const { directory, newTenant, audit, reportsChange } = lab();
    const tenant = await newTenant();
    await directory.levels.register(tenant, 'deploy', 'token ci', 1);
    await audit(tenant);
    const remove = (name: string) => directory.levels.remove(tenant, name, 'x', 2);
    expect(await remove('critical')).toBe(false);
    expect(await reportsChange(tenant, () => remove('deploy'))).toBe(true);
    expect(await remove('deploy')).toBe(false);
    expect(await directory.levels.list(tenant)).toHaveLength(5);
    expect(await audit(tenant)).toMatchObject([
      { action: 'level.delete', subject: 'deploy', detail: builtInStyles.info },
    ]);
  });

  test('a level goes only while the rules are those that were looked at', async () => {
    const { directory, newTenant } = lab();
    const { levels, rules } = directory;
    const tenant = await newTenant();
    await levels.register(tenant, 'deploy', 'token ci', 1);
    const { revision } = await rules.set(tenant);
    const wanted = { name: 'r', when: { level: ['deploy'] }, then: { mute: true } };
    await rules.create(tenant, newRule('r', wanted, 'UTC'), 'x', 2);
    expect(await levels.remove(tenant, 'deploy', 'x', 3, revision)).toBeUndefined();
    expect(await customOf(tenant)).toHaveLength(1);
    expect(await levels.remove(tenant, 'gone', 'x', 3, revision)).toBe(false);
    expect(await levels.remove(tenant, 'deploy', 'x', 3, (await rules.set(tenant)).revision)).toBe(true);
    expect(await customOf(tenant)).toEqual([]);
  });

  test('a level stays while the minLevel of a panel names it, and a panel takes none that is gone', async () => {
    const { directory, newTenant } = lab();
    const { levels, panels } = directory;
    const tenant = await newTenant();
    for (const name of ['a_b', 'axb']) await levels.register(tenant, name, 'token ci', 1);
    await panels.register(tenant, { id: 'p', name: 'P', tags: [], location: null }, 'x', 1);
    await panels.update(tenant, 'p', { display: { scheme: 'dark', minLevel: 'a_b' } }, 'x', 2);
    expect(await levels.remove(tenant, 'a_b', 'x', 3)).toBeUndefined();
    expect(await levels.remove(tenant, 'axb', 'x', 3)).toBe(true);
    await expect(panels.update(tenant, 'p', { display: { minLevel: 'axb' } }, 'x', 4)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('"axb"'),
    });
    await panels.update(tenant, 'p', { display: {} }, 'x', 5);
    expect(await levels.remove(tenant, 'a_b', 'x', 6)).toBe(true);
  });

  test('a rule cannot begin to name a level that was deleted meanwhile; a rule that named it can be changed', async () => {
    const { directory, newTenant } = lab();
    const { levels, rules } = directory;
    const tenant = await newTenant();
    await levels.put(tenant, 'deploy', {}, 'x', 1);
    const naming = (level: string) =>
      [
        { when: { level: ['info', level] } },
        { when: { not: { minLevel: level } } },
        { then: { setLevel: level } },
        { then: { suppress: { when: { level: [level] }, equal: ['host'] } } },
        { then: { escalate: [{ afterMs: 60_000, setLevel: level }] } },
      ] as const;
    const rule = (id: string, wanted: object, name = id) =>
      newRule(id, { name, then: { mute: true }, ...wanted } as never, 'UTC');
    const gone = { code: 'conflict', message: expect.stringContaining('is deleted') };
    for (const wanted of naming('gone'))
      for (const position of [undefined, 1])
        await expect(rules.create(tenant, rule('r', wanted), 'x', 1, position)).rejects.toMatchObject(gone);
    for (const [i, wanted] of naming('deploy').entries())
      await rules.create(tenant, rule(`r${i}`, wanted), 'x', 1);
    const { revision } = await rules.set(tenant);
    expect(
      await rules.update(tenant, rule('r0', { then: { setLevel: 'gone' } }), 'x', 2, revision),
    ).toBeUndefined();
    // As an earlier version of the server allowed it.
    expect(await levels.remove(tenant, 'deploy', 'x', 3)).toBe(true);
    const renamed = rule('r0', { when: { level: ['deploy'] } }, 'other name');
    expect(await rules.update(tenant, renamed, 'x', 4, revision)).toMatchObject({ name: 'other name' });
  });

  test('of a rule that begins to name a level and its deletion at the same moment, one happens', async () => {
    const { directory, newTenant } = lab();
    const { levels, rules } = directory;
    const tenant = await newTenant();
    for (let i = 0; i < 10; i++) {
      const name = `level-${i}`;
      await levels.put(tenant, name, {}, 'x', 1);
      const { revision } = await rules.set(tenant);
      const [removed, made] = await Promise.allSettled([
        levels.remove(tenant, name, 'x', 1, revision),
        rules.create(tenant, newRule(`r${i}`, { name, then: { setLevel: name } }, 'UTC'), 'x', 1),
      ]);
      expect(removed).toEqual({
        status: 'fulfilled',
        value: made.status === 'rejected' ? true : undefined,
      });
    }
  });

  test('a deleted level is known once, by the rank it had last', async () => {
    const { directory, newTenant } = lab();
    const [tenant, other] = [await newTenant(), await newTenant()];
    const { levels } = directory;
    for (const [name, rank, at] of [
      ['deploy', 45, 1],
      ['deploy', 5, 3],
      ['drill', 7, 5],
    ] as const) {
      await levels.put(tenant, name, { rank }, 'x', at);
      await levels.remove(tenant, name, 'x', at + 1);
    }
    expect(await levels.deleted(tenant)).toEqual([
      { name: 'drill', rank: 7 },
      { name: 'deploy', rank: 5 },
    ]);
    expect(await levels.deleted(other)).toEqual([]);
  });

  test('levels of one tenant are unknown to another', async () => {
    const { directory, newTenant } = lab();
    const [mine, theirs] = [await newTenant(), await newTenant()];
    await directory.levels.put(theirs, 'deploy', { rank: 1 }, 'x', 1);
    await directory.levels.put(theirs, 'info', { rank: 2 }, 'x', 1);
    expect(await customOf(mine)).toEqual([]);
    expect(await directory.levels.remove(mine, 'deploy', 'x', 1)).toBe(false);
    expect((await directory.levels.list(mine))[1]).toMatchObject({ name: 'info', rank: 20 });
    expect(await customOf(theirs)).toHaveLength(1);
  });

  test('the bound on custom levels holds, also for many at once; known ones and deleting stay possible', async () => {
    const { directory, newTenant } = lab();
    const { levels } = directory;
    const tenant = await newTenant();
    const names = Array.from({ length: limits.customLevelsPerTenant + 20 }, (_, i) => `level-${i}`);
    const made: unknown[] = [];
    // Forty at once: more would wait for a connection, on a busy machine until the store refuses them.
    while (names.length > 0) {
      const some = names.splice(0, 40);
      made.push(...(await Promise.all(some.map((name) => levels.register(tenant, name, 'token ci', 1)))));
    }
    expect(made.filter(Boolean)).toHaveLength(limits.customLevelsPerTenant);
    expect(await customOf(tenant)).toHaveLength(limits.customLevelsPerTenant);
    expect(await levels.put(tenant, 'one-more', {}, 'x', 1)).toBeUndefined();
    expect(await levels.register(tenant, 'info', 'token ci', 1)).toBe(true);
    const [known] = await customOf(tenant);
    expect(await levels.put(tenant, known?.name ?? '', { rank: 7 }, 'x', 1)).toMatchObject({ rank: 7 });
    expect(await levels.remove(tenant, known?.name ?? '', 'x', 1)).toBe(true);
    expect(await levels.register(tenant, 'one-more', 'token ci', 1)).toBe(true);
  });
}
