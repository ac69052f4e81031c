import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { limits } from '#contract/limits.ts';
import { type DirectoryLab, tokenRecord } from './directory.ts';

export function panelsConformance(lab: () => DirectoryLab): void {
  const draft = (id: string, name = `panel ${id}`) => ({ id, name, tags: ['noc'], location: 'Hall' });

  test('a registered panel is listed, whole', async () => {
    const { directory, newTenant, audit, reportsChange } = lab();
    const tenant = await newTenant();
    expect(
      await reportsChange(tenant, () =>
        directory.panels.register(tenant, draft('a', 'Lobby'), 'token tv', 5),
      ),
    ).toBe(true);
    expect(await directory.panels.list(tenant)).toEqual([
      {
        id: 'a',
        name: 'Lobby',
        kind: 'screen',
        topic: 'lobby',
        tags: ['noc'],
        location: 'Hall',
        display: {},
        createdAt: 5,
        lastSeenAt: null,
        cursor: null,
        client: null,
        address: null,
      },
    ]);
    expect(await audit(tenant)).toMatchObject([
      { at: 5, by: 'token tv', action: 'panel.create', subject: 'a', detail: { name: 'Lobby' } },
    ]);
  });

  test('a panel keeps its topic, which is made of its first name and unlike that of any other', async () => {
    const { directory, newTenant } = lab();
    const [tenant, other] = [await newTenant(), await newTenant()];
    const register = async (of: number, id: string, name: string) =>
      (await directory.panels.register(of, { ...draft(id, name), kind: 'phone' }, 'x', 1))?.panel;
    expect(await register(tenant, 'a', 'NOC east')).toMatchObject({ kind: 'phone', topic: 'noc-east' });
    expect(await register(tenant, 'b', 'noc-east')).toMatchObject({ topic: 'noc-east-2' });
    expect(await register(tenant, 'c', 'NOC East!')).toMatchObject({ topic: 'noc-east-3' });
    expect(await register(other, 'a', 'NOC east')).toMatchObject({ topic: 'noc-east' });
    await directory.panels.update(tenant, 'a', { name: 'West' }, 'x', 2);
    expect(await directory.panels.find(tenant, 'a')).toMatchObject({ name: 'West', topic: 'noc-east' });
    expect(await register(tenant, 'd', 'West 2')).toMatchObject({ topic: 'west-2' });
  });

  test('a topic that was asked for is given once', async () => {
    const { directory, newTenant } = lab();
    const tenant = await newTenant();
    const register = (id: string, name: string) =>
      directory.panels.register(tenant, { ...draft(id, name), topic: 'On_Call' }, 'x', 1);
    expect(await register('a', 'a')).toMatchObject({ created: true, panel: { topic: 'On_Call' } });
    expect(await register('a', 'a')).toMatchObject({ created: false });
    expect(await register('b', 'b')).toBeUndefined();
    expect(await directory.panels.list(tenant)).toHaveLength(1);
  });

  test('panels that are registered at once get different topics', async () => {
    const { directory, newTenant } = lab();
    const tenant = await newTenant();
    const names = ['Noc', 'NOC', 'noc', 'nOc'];
    const made = await Promise.all(
      names.map((name, i) => directory.panels.register(tenant, draft(String(i), name), 'x', 1)),
    );
    expect(made.map((each) => each?.panel.topic).sort()).toEqual(['noc', 'noc-2', 'noc-3', 'noc-4']);
  });

  test('many panels from before there were topics get different ones, also of two nodes at once', async () => {
    const { directory, newTenant, db } = lab();
    const [tenant, count] = [await newTenant(), 1_200];
    await directory.panels.register(tenant, draft('0', 'noc'), 'x', 1);
    const ids = Array.from({ length: count }, (_, i) => String(i + 1));
    const rest = sql`tags, display, created_at, kind`;
    const older = (id: string, i: number) => {
      const name = `noc ${'!'.repeat(i % 50)}${'?'.repeat(i / 50)}`;
      return sql`insert into panels (tenant, id, name, ${rest})
        select tenant, ${id}, ${name}, ${rest} from panels where tenant = ${tenant} and id = '0'`;
    };
    await db.write(ids.map(older));
    await Promise.all([directory.panels.nameTopics(), directory.panels.nameTopics()]);
    const topics = (await directory.panels.list(tenant)).map(({ topic }) => topic);
    expect(new Set(topics)).toEqual(new Set(['noc', ...ids.map((id) => `noc-${Number(id) + 1}`)]));
  });

  test('a panel from before there were topics gets one', async () => {
    const { directory, db, newTenant } = lab();
    const tenant = await newTenant();
    for (const [id, name] of [
      ['a', 'Wall'],
      ['b', 'WALL'],
      ['c', 'other'],
    ] as const)
      await directory.panels.register(tenant, draft(id, name), 'x', id.charCodeAt(0));
    await db.write([
      db.updateTable('panels').set({ topic: null }).where('tenant', '=', tenant).where('id', '<', 'c'),
    ]);
    expect(await directory.panels.find(tenant, 'b')).toMatchObject({ topic: 'b' });
    await directory.panels.nameTopics();
    await directory.panels.nameTopics();
    expect((await directory.panels.list(tenant)).map(({ topic }) => topic)).toEqual([
      'wall-2',
      'wall',
      'other',
    ]);
  });

  test('a command for a panel is in the audit log, and is no change', async () => {
    const { directory, newTenant, audit, reportsChange } = lab();
    const [tenant, other] = [await newTenant(), await newTenant()];
    await directory.panels.register(tenant, draft('a'), 'x', 1);
    await audit(tenant);
    const note = (of: number, id: string) => directory.panels.noteCommand(of, id, 'identify', 'key me', 7);
    expect(
      await reportsChange(tenant, async () => {
        expect([await note(tenant, 'a'), await note(tenant, 'b'), await note(other, 'a')]).toEqual([
          true,
          false,
          false,
        ]);
      }),
    ).toBe(false);
    expect(await audit(tenant)).toMatchObject([
      { at: 7, by: 'key me', action: 'panel.identify', subject: 'a', detail: { name: 'panel a' } },
    ]);
    expect(await audit(other)).toEqual([]);
  });

  test('one panel is found by its id, in its own tenant', async () => {
    const { directory, newTenant } = lab();
    const [tenant, other] = [await newTenant(), await newTenant()];
    for (const id of ['a', 'b']) await directory.panels.register(tenant, draft(id), 'x', 5);
    expect(await directory.panels.find(tenant, 'b')).toEqual((await directory.panels.list(tenant))[1]);
    expect(await directory.panels.find(tenant, 'c')).toBeUndefined();
    expect(await directory.panels.find(other, 'b')).toBeUndefined();
  });

  test('registering under a name that is taken answers that panel and is no change', async () => {
    const { directory, newTenant, audit, reportsChange } = lab();
    const tenant = await newTenant();
    await directory.panels.register(tenant, draft('a', 'Lobby'), 'x', 1);
    await audit(tenant);
    const again = async () =>
      expect(
        await directory.panels.register(tenant, { ...draft('b', 'Lobby'), tags: [] }, 'x', 2),
      ).toMatchObject({
        created: false,
        panel: { id: 'a', tags: ['noc'] },
      });
    expect(await reportsChange(tenant, again)).toBe(false);
    expect(await audit(tenant)).toEqual([]);
  });

  test('registered by many at once under one name, one makes it and all get the same panel', async () => {
    const { directory, newTenant } = lab();
    const tenant = await newTenant();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        directory.panels.register(tenant, draft(`id-${i}`, 'Lobby'), 'x', 1),
      ),
    );
    expect(answers.filter((answer) => answer?.created)).toHaveLength(1);
    expect(new Set(answers.map((answer) => answer?.panel.id)).size).toBe(1);
    expect(await directory.panels.list(tenant)).toHaveLength(1);
  });

  test('an update changes what it names; display settings are replaced as a whole', async () => {
    const { directory, newTenant, audit, reportsChange } = lab();
    const tenant = await newTenant();
    await directory.panels.register(tenant, draft('a', 'Lobby'), 'x', 1);
    await audit(tenant);
    await directory.panels.update(tenant, 'a', { display: { scheme: 'dark', sound: true } }, 'x', 2);
    const patch = { name: 'Foyer', tags: [], location: null, display: { maxCards: 4 } };
    expect(await reportsChange(tenant, () => directory.panels.update(tenant, 'a', patch, 'x', 3))).toBe(true);
    expect(await directory.panels.list(tenant)).toMatchObject([{ id: 'a', ...patch, createdAt: 1 }]);
    expect((await directory.panels.list(tenant))[0]?.display).toEqual({ maxCards: 4 });
    expect(await audit(tenant)).toMatchObject([
      { action: 'panel.update' },
      {
        action: 'panel.update',
        detail: {
          before: {
            name: 'Lobby',
            tags: ['noc'],
            location: 'Hall',
            display: { scheme: 'dark', sound: true },
          },
          after: patch,
        },
      },
    ]);
    expect(await directory.panels.update(tenant, 'a', {}, 'x', 4)).toMatchObject(patch);
  });

  test('a panel can keep its name and cannot take another’s', async () => {
    const { directory, newTenant, audit } = lab();
    const tenant = await newTenant();
    await directory.panels.register(tenant, draft('a', 'Lobby'), 'x', 1);
    await directory.panels.register(tenant, draft('b', 'Foyer'), 'x', 1);
    await audit(tenant);
    await expect(directory.panels.update(tenant, 'b', { name: 'Lobby' }, 'x', 2)).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await audit(tenant)).toEqual([]);
    expect(await directory.panels.update(tenant, 'b', { name: 'Foyer', tags: [] }, 'x', 3)).toMatchObject({
      tags: [],
    });
    expect(await directory.panels.update(tenant, 'nobody', { name: 'Lobby' }, 'x', 3)).toBeUndefined();
  });

  test('two panels that take the same name at once: one gets it', async () => {
    const { directory, newTenant } = lab();
    const tenant = await newTenant();
    for (const id of ['a', 'b', 'c']) await directory.panels.register(tenant, draft(id), 'x', 1);
    const results = await Promise.allSettled(
      ['a', 'b', 'c'].map((id) => directory.panels.update(tenant, id, { name: 'Best' }, 'x', 2)),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('a removed panel is gone, and the tokens bound to it are revoked with it', async () => {
    const { directory, newTenant, audit, reportsChange } = lab();
    const tenant = await newTenant();
    await directory.panels.register(tenant, draft('gone', 'Lobby'), 'x', 1);
    const bound = tokenRecord(tenant, 'boundtoken', { panelId: 'gone', scopes: ['panel'] });
    const free = tokenRecord(tenant, 'freetoken1');
    await directory.credentials.add(bound);
    await directory.credentials.add(free);
    await audit(tenant);
    expect(await reportsChange(tenant, () => directory.panels.remove(tenant, 'gone', 'x', 9))).toBe(true);
    expect(await directory.panels.remove(tenant, 'gone', 'x', 10)).toBe(false);
    expect(await directory.panels.list(tenant)).toEqual([]);
    expect(await directory.credentials.find(bound.id)).toMatchObject({ revokedAt: 9 });
    expect(await directory.credentials.find(free.id)).toMatchObject({ revokedAt: null });
    expect(await audit(tenant)).toMatchObject([
      { action: 'panel.delete', subject: 'gone', detail: { name: 'Lobby', tags: ['noc'], location: 'Hall' } },
      { action: 'token.revoke', subject: 'boundtoken', by: 'x', detail: { panelId: 'gone' } },
    ]);
  });

  test('two tenants may have panels of one name and one id, and neither reaches the other’s', async () => {
    const { directory, newTenant } = lab();
    const [mine, theirs] = [await newTenant(), await newTenant()];
    await directory.panels.register(theirs, draft('shared', 'Lobby'), 'x', 1);
    await directory.panels.register(theirs, draft('other', 'Foyer'), 'x', 1);
    expect(await directory.panels.register(mine, draft('shared', 'Lobby'), 'x', 2)).toMatchObject({
      created: true,
    });
    expect(await directory.panels.update(mine, 'other', { tags: [] }, 'x', 3)).toBeUndefined();
    expect(await directory.panels.remove(mine, 'other', 'x', 3)).toBe(false);
    expect(await directory.panels.update(mine, 'shared', { name: 'Foyer' }, 'x', 3)).toMatchObject({
      name: 'Foyer',
    });
    expect(await directory.panels.remove(mine, 'shared', 'x', 4)).toBe(true);
    expect((await directory.panels.list(theirs)).map(({ name }) => name)).toEqual(['Foyer', 'Lobby']);
  });

  test('contact is noted in bulk; an older word does not undo a newer one, and it is no change of configuration', async () => {
    const { directory, newTenant, reportsChange } = lab();
    const tenant = await newTenant();
    await directory.panels.register(tenant, draft('a'), 'x', 1);
    const touch = () =>
      directory.panels.touch([
        { tenant, id: 'a', at: 200, cursor: 9, client: 'panel/1.0.0', address: '10.0.0.7' },
        { tenant, id: 'a', at: 100, cursor: 3, client: null, address: null },
        { tenant, id: 'nobody', at: 100, cursor: 3, client: null, address: null },
      ]);
    expect(await reportsChange(tenant, touch)).toBe(false);
    expect(await directory.panels.list(tenant)).toMatchObject([
      { lastSeenAt: 200, cursor: 9, client: 'panel/1.0.0', address: '10.0.0.7' },
    ]);
    await directory.panels.touch([]);
  });

  test('the bound on panels holds, also for two at once; known ones can still register', async () => {
    const { directory, newTenant, execute } = lab();
    const tenant = await newTenant();
    await execute(
      `insert into panels (tenant, id, name, tags, location, display, created_at)
       with recursive n (i) as (select 2 union all select i + 1 from n where i < cast(? as bigint))
       select ?, 'p' || i, 'bulk ' || i, '[]', null, '{}', 1 from n`,
      [limits.panelsPerTenant, tenant],
    );
    const answers = await Promise.all(
      ['x', 'y'].map((id) => directory.panels.register(tenant, draft(id), 'x', 1)),
    );
    expect(answers.filter((answer) => answer === undefined)).toHaveLength(1);
    expect(await directory.panels.register(tenant, draft('z', 'bulk 2'), 'x', 1)).toMatchObject({
      created: false,
    });
  });
}
