import { expect, test, vi } from 'vitest';
import { builtInStyles } from '#contract/routing/level-styles.ts';
import { type DirectoryLab, tokenRecord } from './directory.ts';

export function tenantsConformance(lab: () => DirectoryLab): void {
  test('a new tenant has the server’s own limits, and can be found by id and by name', async () => {
    const { tenants } = lab().directory;
    const made = await tenants.create('acme', 'Acme Ltd', 'cli', 5000);
    expect(made).toEqual({
      changed: made.changed,
      rulesRevision: 0,
      id: made.id,
      name: 'acme',
      title: 'Acme Ltd',
      timeZone: 'UTC',
      state: 'active',
      rate: null,
      retentionDays: null,
      retentionCount: null,
      createdAt: 5000,
    });
    expect(made.id).toBeGreaterThan(0);
    expect(await tenants.get(made.id)).toEqual(made);
    expect(await tenants.findByName('acme')).toEqual(made);
    expect(await tenants.list()).toContainEqual(made);
  });

  test('a new tenant has the built-in levels in their published look', async () => {
    const { tenants, levels } = lab().directory;
    const { id } = await tenants.create('looks', 'Looks', 'cli', 1);
    expect(await levels.list(id)).toEqual(
      Object.entries(builtInStyles).map(([name, style]) => ({ name, builtIn: true, ...style })),
    );
  });

  test('creating a tenant is in its audit log and is reported as a change', async () => {
    const { directory, rows } = lab();
    const { revision } = await directory.changedSince(0);
    const { id } = await directory.tenants.create('audited', 'Audited', 'cli', 77);
    expect(await rows('audit', id)).toMatchObject([
      { at: 77, by: 'cli', action: 'tenant.create', subject: 'audited', detail: '{"title":"Audited"}' },
    ]);
    const { tenants } = await directory.changedSince(revision);
    expect(tenants).toEqual([id]);
  });

  test('a name that is taken is a conflict, and changes nothing about the one that has it', async () => {
    const { directory, rows } = lab();
    const first = await directory.tenants.create('taken', 'First', 'cli', 1);
    const { revision } = await directory.changedSince(0);
    await expect(directory.tenants.create('taken', 'Second', 'cli', 2)).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await directory.tenants.findByName('taken')).toEqual(first);
    expect((await directory.changedSince(revision)).tenants).toEqual([]);
    expect(await rows('audit', first.id)).toHaveLength(1);
  });

  test('of several made at the same time under one name, one is', async () => {
    const { tenants, levels } = lab().directory;
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) => tenants.create('race', `Racer ${i}`, 'cli', i)),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const winner = await tenants.findByName('race');
    expect(await levels.list(winner?.id ?? 0)).toHaveLength(5);
  });

  test('one that somebody makes for themselves is theirs from the one transaction on', async () => {
    const { db, directory, newPerson, rows } = lab();
    const { tenants, members } = directory;
    const person = await newPerson('Ann', 'ann-founds@example.org');
    const wanted = {
      name: 'owned',
      title: 'Owned',
      timeZone: 'Asia/Tokyo',
      owner: { id: person, email: 'ann-founds@example.org' },
    };
    const write = vi.spyOn(db, 'write');
    const made = await tenants.createOwned(wanted, 'ann-founds@example.org', 7);
    expect(write).toHaveBeenCalledTimes(1);
    write.mockRestore();
    expect(made).toMatchObject({ name: 'owned', title: 'Owned', timeZone: 'Asia/Tokyo', createdAt: 7 });
    expect(await members.ofPerson(person)).toEqual([{ tenant: made, role: 'owner', joinedAt: 7 }]);
    expect(await rows('audit', made.id)).toMatchObject([
      {
        action: 'tenant.create',
        by: 'ann-founds@example.org',
        detail: expect.stringContaining('Asia/Tokyo'),
      },
      { action: 'member.add', subject: person, detail: expect.stringContaining('"role":"owner"') },
    ]);
  });

  test('under a name that is taken nobody becomes an owner, nor of one that has no owner to be', async () => {
    const { directory, newPerson } = lab();
    const { tenants, members } = directory;
    const people = await Promise.all(['A', 'B', 'C'].map((name) => newPerson(name)));
    const results = await Promise.allSettled(
      people.map((id) =>
        tenants.createOwned({ name: 'contested', title: 'C', owner: { id, email: id } }, 'test', 1),
      ),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const { id } = (await tenants.findByName('contested')) as { id: number };
    expect(await members.list(id)).toHaveLength(1);
    const nobody = { name: 'nobodys', title: 'N', owner: { id: 'nobody', email: 'nobody@example.org' } };
    await expect(tenants.createOwned(nobody, 'test', 1)).rejects.toMatchObject({ code: 'not-found' });
    expect(await tenants.findByName('nobodys')).toBeUndefined();
  });

  test('owners create tenants up to a number of all, also at the same time; the operator creates more', async () => {
    const { directory, newPerson } = lab();
    const { tenants } = directory;
    const owner = { id: await newPerson('Max', 'max@example.org'), email: 'max@example.org' };
    const most = (await tenants.list()).length + 2;
    const results = await Promise.allSettled(
      ['m1', 'm2', 'm3', 'm4'].map((name) =>
        tenants.createOwned({ name, title: name, owner }, 'max@example.org', 1, { inAll: most }),
      ),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    for (const each of results.filter(({ status }) => status === 'rejected'))
      expect(each).toMatchObject({
        reason: { code: 'forbidden', message: expect.stringContaining(`up to ${most} `) },
      });
    expect(await tenants.list()).toHaveLength(most);
    expect(await tenants.create('m5', 'M5', 'cli', 1)).toMatchObject({ name: 'm5' });
  });

  test('a person owns up to a number of tenants, also at the same time; others and the operator create more', async () => {
    const { directory, newPerson } = lab();
    const { tenants, members } = directory;
    const [ida, ivo] = [await newPerson('Ida'), await newPerson('Ivo')];
    const create = (id: string, name: string) =>
      tenants.createOwned({ name, title: name, owner: { id, email: id } }, 'test', 1, { ofOwner: 2 });
    const results = await Promise.allSettled(['o1', 'o2', 'o3', 'o4'].map((name) => create(ida, name)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    for (const each of results.filter(({ status }) => status === 'rejected'))
      expect(each).toMatchObject({
        reason: { code: 'conflict', message: expect.stringContaining('you own 2 tenants') },
      });
    expect(await members.ofPerson(ida)).toHaveLength(2);
    await expect(create('nobody', 'o5')).rejects.toMatchObject({ code: 'not-found' });
    await create(ivo, 'o5');
    expect(await tenants.create('o6', 'O6', 'cli', 1)).toMatchObject({ name: 'o6' });
  });

  test('several made at the same time get an id each', async () => {
    const { tenants } = lab().directory;
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, i) => tenants.create(`many-${i}`, 'Many', 'cli', i)),
    );
    expect(new Set(made.map(({ id }) => id)).size).toBe(10);
  });

  test('what does not exist: get throws not-found, find is undefined', async () => {
    const { tenants } = lab().directory;
    await expect(tenants.get(987_654)).rejects.toMatchObject({ code: 'not-found' });
    expect(await tenants.findByName('nobody')).toBeUndefined();
    await expect(tenants.update(987_654, { title: 'x' }, 'cli', 1)).rejects.toMatchObject({
      code: 'not-found',
    });
  });

  test('an update changes what it names and nothing else', async () => {
    const { directory, newTenant, audit, reportsChange } = lab();
    const id = await newTenant();
    const before = await directory.tenants.get(id);
    const patch = {
      timeZone: 'Europe/Berlin',
      rate: { perSecond: 5, burst: 50 },
      retentionDays: 'off',
      retentionCount: 10,
    } as const;
    expect(await reportsChange(id, () => directory.tenants.update(id, patch, 'key ops', 99))).toBe(true);
    expect(await directory.tenants.get(id)).toEqual({ ...before, changed: before.changed + 1, ...patch });
    expect(await audit(id)).toMatchObject([
      {
        at: 99,
        by: 'key ops',
        action: 'tenant.update',
        subject: before.name,
        detail: {
          before: { timeZone: 'UTC', rate: null, retentionDays: null, retentionCount: null },
          after: patch,
        },
      },
    ]);
  });

  test('an update that changes nothing is no change, and is not in the audit log', async () => {
    const { directory, newTenant, audit, reportsChange } = lab();
    const id = await newTenant();
    const { title } = await directory.tenants.get(id);
    for (const patch of [{}, { title }, { rate: null }]) {
      const again = async () =>
        expect(await directory.tenants.update(id, patch, 'x', 1)).toMatchObject({ id, title });
      expect(await reportsChange(id, again)).toBe(false);
    }
    expect(await audit(id)).toEqual([]);
  });

  test('of changes made at the same time each tells what was before it, whatever was read first', async () => {
    const { directory, newTenant, audit } = lab();
    const id = await newTenant();
    const titles = Array.from({ length: 12 }, (_, i) => `title ${i}`);
    await Promise.all(titles.map((title) => directory.tenants.update(id, { title }, 'x', 1)));
    const entries = (await audit(id)).map(({ detail }) => detail as Record<string, { title: string }>);
    expect(entries.map(({ after }) => after?.title).toSorted()).toEqual(titles.toSorted());
    expect(entries.map(({ before }) => before?.title)).toEqual([
      'A lab',
      ...entries.slice(0, -1).map(({ after }) => after?.title),
    ]);
  });

  test('a renamed tenant is found by its new name alone, and keeps its id and all that it has', async () => {
    const { directory, newTenant, audit, reportsChange } = lab();
    const id = await newTenant();
    const before = await directory.tenants.get(id);
    expect(await reportsChange(id, () => directory.tenants.update(id, { name: 'new-name' }, 'cli', 5))).toBe(
      true,
    );
    const after = await directory.tenants.get(id);
    expect(after).toEqual({ ...before, changed: before.changed + 1, name: 'new-name' });
    expect(await directory.tenants.findByName('new-name')).toEqual(after);
    expect(await directory.tenants.findByName(before.name)).toBeUndefined();
    expect(await audit(id)).toMatchObject([
      {
        action: 'tenant.update',
        subject: before.name,
        detail: { before: { name: before.name }, after: { name: 'new-name' } },
      },
    ]);
    // The former name is free.
    expect((await directory.tenants.create(before.name, 'Another', 'cli', 6)).id).not.toBe(id);
  });

  test('a tenant is suspended and resumed, each once, in its audit log and as a change', async () => {
    const { directory, newTenant, audit, reportsChange } = lab();
    const { tenants } = directory;
    const id = await newTenant();
    const before = await tenants.get(id);
    expect(await reportsChange(id, () => tenants.setState(id, 'suspended', 'cli', 5))).toBe(true);
    expect(await tenants.get(id)).toEqual({ ...before, changed: before.changed + 1, state: 'suspended' });
    const again = async () =>
      expect(await tenants.setState(id, 'suspended', 'cli', 6)).toMatchObject({ state: 'suspended' });
    expect(await reportsChange(id, again)).toBe(false);
    expect(await tenants.setState(id, 'active', 'cli', 7)).toMatchObject({ id, state: 'active' });
    expect(await audit(id)).toMatchObject([
      { at: 5, by: 'cli', action: 'tenant.suspend', subject: before.name },
      { at: 7, by: 'cli', action: 'tenant.resume', subject: before.name },
    ]);
    await expect(tenants.setState(987_654, 'suspended', 'cli', 1)).rejects.toMatchObject({
      code: 'not-found',
    });
  });

  test('a deleted tenant does not exist from then on; its name is free, and its number is not used again', async () => {
    const { directory, newTenant, newPerson, audit, reportsChange } = lab();
    const { tenants, members, credentials } = directory;
    const id = await newTenant();
    const person = await newPerson('Del');
    await members.add(id, person, 'owner', 'x', 1);
    const token = tokenRecord(id, `deleted-${id}`);
    await credentials.add(token);
    await audit(id);
    const { name } = await tenants.get(id);
    expect(await reportsChange(id, () => tenants.delete(id, 'cli', 5))).toBe(true);
    expect(await tenants.findByName(name)).toBeUndefined();
    expect(await tenants.list()).not.toContainEqual(expect.objectContaining({ id }));
    expect(await members.ofPerson(person)).toEqual([]);
    expect(await credentials.find(token.id)).toBeUndefined();
    expect(await tenants.get(id)).toMatchObject({ state: 'deleting' });
    const gone = { code: 'not-found' };
    await expect(tenants.delete(id, 'cli', 6)).rejects.toMatchObject(gone);
    await expect(tenants.setState(id, 'active', 'cli', 6)).rejects.toMatchObject(gone);
    await expect(tenants.update(id, { title: 'x' }, 'cli', 6)).rejects.toMatchObject(gone);
    expect(await audit(id)).toMatchObject([
      { at: 5, by: 'cli', action: 'tenant.delete', subject: name, detail: { title: 'A lab' } },
    ]);
    expect((await tenants.create(name, 'Anew', 'cli', 7)).id).toBeGreaterThan(id);
    const deleted = { name, title: 'A lab', deletedAt: 5, deletedBy: 'cli' };
    expect(await tenants.listDeleted()).toContainEqual({ ...deleted, state: 'deleting' });

    let removed = 0;
    for (let some = -1; some !== 0; removed += some) some = await tenants.removeSome(id);
    // The member, the token, the five levels and their audit entries.
    expect(removed).toBeGreaterThan(7);
    await tenants.endDeletion(id);
    expect(await tenants.get(id)).toMatchObject({ state: 'deleted' });
    expect(await tenants.listDeleted()).toContainEqual({ ...deleted, state: 'deleted' });
    expect(await directory.levels.list(id)).toEqual([]);
  });

  test('a batch of a removal has a bounded number of rows, and takes none of another tenant', async () => {
    const { directory, newTenant, execute } = lab();
    const { tenants, levels } = directory;
    const [id, other] = [await newTenant(), await newTenant()];
    for (let from = 0; from < 1_200; from += 400)
      await execute(
        `insert into rule_hits (tenant, id, hits, last_hit_at) values ${Array.from({ length: 400 }, (_, i) => `(${id}, 'r${from + i}', 1, 1)`).join()}`,
        [],
      );
    await tenants.delete(id, 'cli', 1);
    const batches = [];
    for (let some = -1; some !== 0; batches.push(some)) some = await tenants.removeSome(id);
    expect(batches.slice(0, 3)).toEqual([500, 500, 200]);
    expect(await levels.list(other)).toHaveLength(5);
  });

  test('the tenant default stays', async () => {
    const { tenants } = lab().directory;
    const { id } = (await tenants.findByName('default')) ?? (await tenants.create('default', 'D', 'x', 1));
    await expect(tenants.delete(id, 'cli', 1)).rejects.toMatchObject({ code: 'conflict' });
    await expect(tenants.update(id, { name: 'other' }, 'cli', 1)).rejects.toMatchObject({ code: 'conflict' });
    expect(await tenants.get(id)).toMatchObject({ name: 'default', state: 'active' });
  });

  test('a tenant does not get a name that another has, also when several are renamed and created at the same time', async () => {
    const { directory, newTenant, audit } = lab();
    const { tenants } = directory;
    const ids = await Promise.all(Array.from({ length: 5 }, newTenant));
    await tenants.create('had', 'Had', 'cli', 1);
    const refused = { code: 'conflict', message: expect.stringContaining('there is a tenant "had" already') };
    await expect(tenants.update(ids[0] as number, { name: 'had' }, 'cli', 1)).rejects.toMatchObject(refused);
    expect(await audit(ids[0] as number)).toEqual([]);
    const results = await Promise.allSettled([
      ...ids.map((id) => tenants.update(id, { name: 'wanted' }, 'cli', 1)),
      tenants.create('wanted', 'Wanted', 'cli', 1),
    ]);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const each of results.filter(({ status }) => status === 'rejected'))
      expect(each).toMatchObject({ reason: { code: 'conflict' } });
  });

  test('a limit can be set to off, to a number and back to the server’s own', async () => {
    const { directory, newTenant } = lab();
    const id = await newTenant();
    for (const rate of ['off', { perSecond: 1, burst: 2 }, null] as const) {
      expect((await directory.tenants.update(id, { rate }, 'x', 1)).rate).toEqual(rate);
    }
    for (const retentionDays of [0.5, 'off', null] as const) {
      expect((await directory.tenants.update(id, { retentionDays }, 'x', 1)).retentionDays).toEqual(
        retentionDays,
      );
    }
  });

  test('changes are reported from any revision on, each tenant once, and nothing when there is none', async () => {
    const { directory, newTenant } = lab();
    const [a, b, c] = [await newTenant(), await newTenant(), await newTenant()];
    const { revision: start } = await directory.changedSince(0);
    await directory.tenants.update(b, { title: '1' }, 'x', 1);
    const { revision: middle } = await directory.changedSince(start);
    await directory.tenants.update(a, { title: '2' }, 'x', 2);
    await directory.tenants.update(b, { title: '3' }, 'x', 3);
    const { revision: end, tenants } = await directory.changedSince(start);
    expect([...tenants].sort()).toEqual([a, b].sort());
    expect((await directory.changedSince(middle)).tenants).toHaveLength(2);
    expect(await directory.changedSince(end)).toMatchObject({ revision: end, tenants: [] });
    expect((await directory.changedSince(0)).tenants).toEqual(expect.arrayContaining([a, b, c]));
  });

  test('no change is lost to one who polls while many are made', async () => {
    const { directory, newTenant } = lab();
    const ids = await Promise.all(Array.from({ length: 8 }, newTenant));
    let { revision } = await directory.changedSince(0);
    const seen = new Set<number>();
    let busy = true;
    const poll = async () => {
      const news = await directory.changedSince(revision);
      revision = news.revision;
      for (const id of news.tenants) seen.add(id);
    };
    const polling = (async () => {
      while (busy) await poll();
    })();
    await Promise.all(ids.map((id) => directory.tenants.update(id, { title: 'changed' }, 'x', 1)));
    busy = false;
    await polling;
    await poll();
    expect([...seen].sort()).toEqual([...ids].sort());
  });
}
