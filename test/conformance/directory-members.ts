import { expect, test } from 'vitest';
import type { Role } from '#contract/people/token.ts';
import type { TenantId } from '#core/log/route.ts';
import type { MemberChange } from '#core/people/members.ts';
import type { DirectoryLab } from './directory.ts';

export function membersConformance(lab: () => DirectoryLab): void {
  /** A tenant with these members; answers the ids in the same order. */
  const tenantOf = async (...roles: Role[]): Promise<{ tenant: TenantId; people: string[] }> => {
    const { directory, newTenant, newPerson, audit } = lab();
    const tenant = await newTenant();
    const people: string[] = [];
    for (const role of roles) {
      const person = await newPerson(role);
      await directory.members.add(tenant, person, role, 'test', 1);
      people.push(person);
    }
    await audit(tenant);
    return { tenant, people };
  };
  const change = (tenant: TenantId, person = '', as: MemberChange['as'] = 'owner') => ({
    tenant,
    person,
    as,
    by: 'ann@example.org',
    at: 7,
  });

  test('a member is listed by name with what the person is everywhere, and with the role here', async () => {
    const { directory, newTenant, newPerson, audit, reportsChange } = lab();
    const tenant = await newTenant();
    const [zoe, ann] = [await newPerson('Zoe', 'zoe@example.org'), await newPerson('Ann', 'ann@example.org')];
    await directory.members.add(tenant, zoe, 'viewer', 'cli', 4);
    expect(await reportsChange(tenant, () => directory.members.add(tenant, ann, 'owner', 'cli', 5))).toBe(
      true,
    );
    const expected = {
      person: ann,
      email: 'ann@example.org',
      name: 'Ann',
      twoFactor: false,
      role: 'owner',
      joinedAt: 5,
      lastSeenAt: null,
    };
    expect(await directory.members.list(tenant)).toMatchObject([expected, { person: zoe, role: 'viewer' }]);
    expect(await directory.members.find(tenant, ann)).toEqual(expected);
    expect(await directory.members.roles(tenant)).toEqual(
      new Map([
        [ann, 'owner'],
        [zoe, 'viewer'],
      ]),
    );
    expect(await audit(tenant)).toMatchObject([
      { action: 'member.add', subject: zoe, detail: { email: 'zoe@example.org', role: 'viewer' } },
      { action: 'member.add', subject: ann, at: 5, by: 'cli' },
    ]);
  });

  test('one is a member once, and somebody who does not exist never', async () => {
    const { directory, newPerson } = lab();
    const { tenant, people } = await tenantOf('viewer');
    const { members } = directory;
    expect(await members.add(tenant, people[0] ?? '', 'owner', 'x', 1)).toBe(false);
    expect(await members.find(tenant, people[0] ?? '')).toMatchObject({ role: 'viewer' });
    expect(await members.add(tenant, 'nobody', 'owner', 'x', 1)).toBe(false);
    const person = await newPerson('Twin');
    expect(await members.add(987_654, person, 'owner', 'x', 1)).toBe(false);
    const twice = await Promise.all([1, 2].map((at) => members.add(tenant, person, 'admin', 'x', at)));
    expect(twice.toSorted()).toEqual([false, true]);
  });

  test('a person belongs to several tenants, listed by title, in a role of its own in each', async () => {
    const { directory, newPerson } = lab();
    const person = await newPerson('Commuter');
    const work = await directory.tenants.create('membership-work', 'Work', 'x', 1);
    const club = await directory.tenants.create('membership-club', 'Club', 'x', 1);
    await directory.members.add(work.id, person, 'viewer', 'x', 2);
    await directory.members.add(club.id, person, 'owner', 'x', 3);
    expect(await directory.members.ofPerson(person)).toEqual([
      { tenant: await directory.tenants.get(club.id), role: 'owner', joinedAt: 3 },
      { tenant: await directory.tenants.get(work.id), role: 'viewer', joinedAt: 2 },
    ]);
    expect(await directory.members.ofPerson('nobody')).toEqual([]);
  });

  test('a role is changed, with the one before it in the audit log; the same again is no change', async () => {
    const { directory, audit, reportsChange } = lab();
    const { tenant, people } = await tenantOf('owner', 'viewer');
    const promote = () => directory.members.setRole({ ...change(tenant, people[1]), role: 'admin' });
    expect(
      await reportsChange(tenant, async () => {
        expect(await promote()).toBe('done');
      }),
    ).toBe(true);
    expect(
      await reportsChange(tenant, async () => {
        expect(await promote()).toBe('done');
      }),
    ).toBe(false);
    expect(await directory.members.find(tenant, people[1] ?? '')).toMatchObject({ role: 'admin' });
    expect(await audit(tenant)).toMatchObject([
      {
        action: 'member.update',
        subject: people[1],
        by: 'ann@example.org',
        at: 7,
        detail: { before: { role: 'viewer' }, after: { role: 'admin' } },
      },
    ]);
  });

  test('a removed member is gone, here and nowhere else', async () => {
    const { directory, audit, reportsChange } = lab();
    const { tenant, people } = await tenantOf('owner', 'member');
    const other = await tenantOf('owner');
    await directory.members.add(other.tenant, people[1] ?? '', 'member', 'x', 1);
    expect(await reportsChange(tenant, () => directory.members.remove(change(tenant, people[1])))).toBe(true);
    expect(await directory.members.remove(change(tenant, people[1]))).toBe('not-found');
    expect(await directory.members.setRole({ ...change(tenant, people[1]), role: 'admin' })).toBe(
      'not-found',
    );
    expect([...(await directory.members.roles(tenant)).keys()]).toEqual([people[0]]);
    expect(await directory.members.ofPerson(people[1] ?? '')).toMatchObject([
      { tenant: { id: other.tenant } },
    ]);
    expect(await audit(tenant)).toMatchObject([
      { action: 'member.remove', subject: people[1], detail: { role: 'member' } },
    ]);
  });

  test('the last owner is neither demoted nor removed, not by the owner either', async () => {
    const { directory, audit } = lab();
    const { tenant, people } = await tenantOf('owner', 'admin');
    for (const as of ['owner', 'self'] as const) {
      expect(await directory.members.remove(change(tenant, people[0], as))).toBe('last-owner');
      expect(await directory.members.setRole({ ...change(tenant, people[0], as), role: 'admin' })).toBe(
        'last-owner',
      );
    }
    expect(await directory.members.setRole({ ...change(tenant, people[0]), role: 'owner' })).toBe('done');
    expect(await audit(tenant)).toEqual([]);
    expect(await directory.members.find(tenant, people[0] ?? '')).toMatchObject({ role: 'owner' });
  });

  test('of owners who are demoted or removed at the same time one stays', async () => {
    const { directory, audit } = lab();
    for (let round = 0; round < 10; round++) {
      const { tenant, people } = await tenantOf('owner', 'owner', 'owner', 'owner');
      const outcomes = await Promise.all(
        people.map((person, i) =>
          i % 2 === 0
            ? directory.members.setRole({ ...change(tenant, person), role: 'viewer' })
            : directory.members.remove(change(tenant, person)),
        ),
      );
      expect(outcomes.toSorted()).toEqual(['done', 'done', 'done', 'last-owner']);
      const owners = [...(await directory.members.roles(tenant)).values()].filter((role) => role === 'owner');
      expect(owners).toHaveLength(1);
      expect(await audit(tenant)).toHaveLength(3);
    }
  });

  test('owners are made, unmade and removed by owners alone; everybody may go', async () => {
    const { directory, audit } = lab();
    const { tenant, people } = await tenantOf('owner', 'owner', 'admin', 'viewer');
    const [, owner, admin, viewer] = people;
    const { members } = directory;
    expect(await members.remove(change(tenant, owner, 'admin'))).toBe('forbidden');
    expect(await members.setRole({ ...change(tenant, owner, 'admin'), role: 'admin' })).toBe('forbidden');
    expect(await members.setRole({ ...change(tenant, owner, 'admin'), role: 'owner' })).toBe('forbidden');
    expect(await members.setRole({ ...change(tenant, admin, 'admin'), role: 'owner' })).toBe('forbidden');
    expect(await audit(tenant)).toEqual([]);
    expect(await members.setRole({ ...change(tenant, viewer, 'admin'), role: 'admin' })).toBe('done');
    expect(await members.remove(change(tenant, admin, 'admin'))).toBe('done');
    expect(await members.remove(change(tenant, owner, 'self'))).toBe('done');
    expect(await members.remove(change(tenant, viewer, 'self'))).toBe('done');
  });

  test('one who is made an owner meanwhile is out of an admin’s reach', async () => {
    const { directory } = lab();
    for (let round = 0; round < 10; round++) {
      const { tenant, people } = await tenantOf('owner', 'member');
      const [promoted, removed] = await Promise.all([
        directory.members.setRole({ ...change(tenant, people[1]), role: 'owner' }),
        directory.members.remove(change(tenant, people[1], 'admin')),
      ]);
      const role = (await directory.members.find(tenant, people[1] ?? ''))?.role;
      expect([promoted, removed, role]).toEqual(
        removed === 'done' ? ['not-found', 'done', undefined] : ['done', 'forbidden', 'owner'],
      );
    }
  });

  test('the members of one tenant are unknown to another', async () => {
    const { directory } = lab();
    const [mine, theirs] = [await tenantOf('owner'), await tenantOf('owner', 'member')];
    const { members } = directory;
    expect(await members.find(mine.tenant, theirs.people[1] ?? '')).toBeUndefined();
    expect(await members.remove(change(mine.tenant, theirs.people[1]))).toBe('not-found');
    expect(await members.setRole({ ...change(mine.tenant, theirs.people[1]), role: 'viewer' })).toBe(
      'not-found',
    );
    expect(await members.find(theirs.tenant, theirs.people[1] ?? '')).toMatchObject({ role: 'member' });
  });

  test('contact is noted in bulk; an older word does not undo a newer one, and it is no change of configuration', async () => {
    const { directory, reportsChange } = lab();
    const { tenant, people } = await tenantOf('owner');
    const person = people[0] ?? '';
    const touch = () =>
      directory.members.touch([
        { tenant, person, at: 200 },
        { tenant, person, at: 100 },
        { tenant, person: 'nobody', at: 300 },
      ]);
    expect(await reportsChange(tenant, touch)).toBe(false);
    expect(await directory.members.find(tenant, person)).toMatchObject({ lastSeenAt: 200 });
    await directory.members.touch([]);
  });
}
