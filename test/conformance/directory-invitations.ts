import { expect, test } from 'vitest';
import type { TenantId } from '#core/log/route.ts';
import type { InvitationRecord } from '#core/people/members.ts';
import { type DirectoryLab, tokenRecord } from './directory.ts';

export function invitationsConformance(lab: () => DirectoryLab): void {
  const now = 10_000;
  let made = 0;
  /** One that waits until 20,000; its secret's hash is `hash of <id>`. */
  const invite = async (
    tenant: TenantId,
    over: Partial<InvitationRecord> = {},
  ): Promise<InvitationRecord & { readonly hash: string }> => {
    made += 1;
    const record = {
      tenant,
      id: `invitation-${made}`,
      role: 'member',
      email: null,
      createdAt: made,
      createdBy: 'ann@example.org',
      expiresAt: 20_000,
      ...over,
    } as const;
    await lab().directory.invitations.create(record, `hash of ${record.id}`);
    return { ...record, hash: `hash of ${record.id}` };
  };
  const plain = ({ hash: _, ...record }: InvitationRecord & { hash: string }) => record;

  test('those that wait are listed, the newest first, and found by id and secret', async () => {
    const { directory, newTenant, audit } = lab();
    const { invitations } = directory;
    const tenant = await newTenant();
    const first = await invite(tenant, { email: 'zoe@example.org', role: 'admin' });
    const second = await invite(tenant);
    expect(await invitations.list(tenant, now)).toEqual([plain(second), plain(first)]);
    expect(await invitations.find(tenant, first.id, now)).toEqual(plain(first));
    expect(await invitations.findBySecret(first.hash, now)).toEqual(plain(first));
    expect(await invitations.findBySecret('another', now)).toBeUndefined();
    const entries = await audit(tenant);
    expect(entries).toMatchObject([
      {
        action: 'invitation.create',
        subject: first.id,
        by: 'ann@example.org',
        detail: { role: 'admin', email: 'zoe@example.org', expiresAt: '1970-01-01T00:00:20.000Z' },
      },
      { subject: second.id },
    ]);
    expect(JSON.stringify(entries)).not.toContain('hash');
  });

  test('accepting makes a member of the role, and uses the invitation up', async () => {
    const { directory, newTenant, newPerson, audit, reportsChange } = lab();
    const { invitations, members } = directory;
    const tenant = await newTenant();
    const { hash, id } = await invite(tenant, { role: 'admin' });
    await audit(tenant);
    const person = await newPerson('Zoe', 'zoe-accepts@example.org');
    const accept = async () =>
      expect(await invitations.accept(hash, person, now)).toMatchObject({
        tenant: { id: tenant },
        role: 'admin',
        joinedAt: now,
      });
    expect(await reportsChange(tenant, accept)).toBe(true);
    expect(await members.find(tenant, person)).toMatchObject({ role: 'admin', joinedAt: now });
    expect(await invitations.list(tenant, now)).toEqual([]);
    expect(await invitations.findBySecret(hash, now)).toBeUndefined();
    await expect(invitations.accept(hash, await newPerson('Late'), now)).rejects.toMatchObject({
      code: 'gone',
    });
    expect(await audit(tenant)).toMatchObject([
      {
        action: 'member.add',
        subject: person,
        by: 'zoe-accepts@example.org',
        detail: { role: 'admin', invitation: id, invitedBy: 'ann@example.org' },
      },
    ]);
  });

  test('of several who accept at the same time one gets in', async () => {
    const { directory, newTenant, newPerson } = lab();
    const tenant = await newTenant();
    const { hash } = await invite(tenant);
    const people = await Promise.all(Array.from({ length: 5 }, () => newPerson('Racer')));
    const results = await Promise.allSettled(
      people.map((person) => directory.invitations.accept(hash, person, now)),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await directory.members.list(tenant)).toHaveLength(1);
  });

  test('one for an address is accepted by that address alone, however it is written', async () => {
    const { directory, newTenant, newPerson } = lab();
    const { invitations, members } = directory;
    const tenant = await newTenant();
    const { hash } = await invite(tenant, { email: 'Rene@Example.org' });
    await expect(invitations.accept(hash, await newPerson('Mallory'), now)).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('another email address'),
    });
    expect(await members.list(tenant)).toEqual([]);
    await invitations.accept(hash, await newPerson('René', 'rene@example.ORG'), now);
    expect(await members.list(tenant)).toHaveLength(1);
  });

  test('who is a member already keeps the role, and the invitation goes on waiting', async () => {
    const { directory, newTenant, newPerson } = lab();
    const { invitations, members } = directory;
    const tenant = await newTenant();
    const person = await newPerson('Ann', 'ann-is-in@example.org');
    await members.add(tenant, person, 'viewer', 'x', 1);
    const { hash } = await invite(tenant, { role: 'owner' });
    await expect(invitations.accept(hash, person, now)).rejects.toMatchObject({ code: 'conflict' });
    expect(await members.find(tenant, person)).toMatchObject({ role: 'viewer' });
    expect(await invitations.findBySecret(hash, now)).toBeDefined();
    await expect(invite(tenant, { email: 'ANN-is-in@example.org' })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('is a member of this tenant already'),
    });
  });

  test('one that has expired is not there any more', async () => {
    const { directory, newTenant, newPerson } = lab();
    const { invitations } = directory;
    const tenant = await newTenant();
    const { hash, id, expiresAt } = await invite(tenant);
    expect(await invitations.findBySecret(hash, expiresAt - 1)).toBeDefined();
    expect(await invitations.findBySecret(hash, expiresAt)).toBeUndefined();
    expect(await invitations.list(tenant, expiresAt)).toEqual([]);
    expect(await invitations.find(tenant, id, expiresAt)).toBeUndefined();
    expect(await invitations.withdraw(tenant, id, 'x', expiresAt)).toBe(false);
    await expect(invitations.accept(hash, await newPerson('Late'), expiresAt)).rejects.toMatchObject({
      code: 'gone',
    });
  });

  test('one that was withdrawn is not there any more', async () => {
    const { directory, newTenant, newPerson, audit } = lab();
    const { invitations } = directory;
    const tenant = await newTenant();
    const { hash, id } = await invite(tenant, { email: 'zoe@example.org' });
    await audit(tenant);
    expect(await invitations.withdraw(tenant, id, 'bob@example.org', now)).toBe(true);
    expect(await invitations.withdraw(tenant, id, 'bob@example.org', now)).toBe(false);
    expect(await invitations.list(tenant, now)).toEqual([]);
    await expect(invitations.accept(hash, await newPerson('Late'), now)).rejects.toMatchObject({
      code: 'gone',
    });
    expect(await audit(tenant)).toMatchObject([
      { action: 'invitation.withdraw', subject: id, detail: { role: 'member', email: 'zoe@example.org' } },
    ]);
  });

  test('those of a key that is revoked wait no more, and nobody else’s go with them', async () => {
    const { directory, newTenant, newPerson } = lab();
    const { invitations, credentials } = directory;
    const [tenant, other] = [await newTenant(), await newTenant()];
    const key = tokenRecord(tenant, 'revokedkey', { kind: 'key', role: 'owner', scopes: [], name: 'ci' });
    await credentials.add(key);
    const createdBy = 'key ci';
    const ended = [await invite(tenant, { createdBy }), await invite(tenant, { createdBy, role: 'owner' })];
    const kept = [await invite(tenant), await invite(tenant, { createdBy: 'key cd' })];
    const foreign = await invite(other, { createdBy });
    await credentials.revoke(tenant, 'key', key.id, 'x', now);
    expect(await invitations.list(tenant, now)).toEqual(kept.map(plain).toReversed());
    expect(await invitations.list(other, now)).toEqual([plain(foreign)]);
    const person = await newPerson('Zoe', 'zoe-late@example.org');
    for (const { hash } of ended)
      await expect(invitations.accept(hash, person, now)).rejects.toMatchObject({ code: 'gone' });
  });

  test('withdrawn or accepted, never both', async () => {
    const { directory, newTenant, newPerson } = lab();
    const { invitations, members } = directory;
    for (let round = 0; round < 10; round++) {
      const tenant = await newTenant();
      const { hash, id } = await invite(tenant);
      const person = await newPerson('Racer');
      const [withdrawn, accepted] = await Promise.allSettled([
        invitations.withdraw(tenant, id, 'x', now),
        invitations.accept(hash, person, now),
      ]);
      const isIn = (await members.find(tenant, person)) !== undefined;
      expect([isIn, withdrawn]).toEqual([
        accepted.status === 'fulfilled',
        { status: 'fulfilled', value: accepted.status === 'rejected' },
      ]);
    }
  });

  test('who loses a role takes along the invitations to what they may give no more', async () => {
    const { directory, newTenant, newPerson } = lab();
    const { invitations, members } = directory;
    const tenant = await newTenant();
    await members.add(tenant, await newPerson('Owner'), 'owner', 'x', 1);
    const email = 'rogue@example.org';
    const person = await newPerson('Rogue', email);
    await members.add(tenant, person, 'owner', 'x', 1);
    for (const role of ['owner', 'admin', 'viewer'] as const)
      await invite(tenant, { role, createdBy: email });
    const kept = await invite(tenant, { role: 'owner', createdBy: 'key deploy' });
    const waiting = async () => (await invitations.list(tenant, now)).map(({ role }) => role).toSorted();
    const change = { tenant, person, as: 'owner', by: 'x', at: 5 } as const;
    await members.setRole({ ...change, role: 'admin' });
    expect(await waiting()).toEqual(['admin', 'owner', 'viewer']);
    await members.remove(change);
    expect(await invitations.list(tenant, now)).toEqual([plain(kept)]);
  });

  test('those of one tenant are unknown to another', async () => {
    const { directory, newTenant } = lab();
    const { invitations } = directory;
    const [mine, theirs] = [await newTenant(), await newTenant()];
    const { id } = await invite(theirs);
    expect(await invitations.list(mine, now)).toEqual([]);
    expect(await invitations.find(mine, id, now)).toBeUndefined();
    expect(await invitations.withdraw(mine, id, 'x', now)).toBe(false);
    expect(await invitations.list(theirs, now)).toHaveLength(1);
    await expect(invite(987_654)).rejects.toMatchObject({ code: 'not-found' });
  });

  test('at most 200 wait, also when many are made at once; one that is withdrawn makes room', async () => {
    const { directory, newTenant } = lab();
    const tenant = await newTenant();
    const results = await Promise.allSettled(Array.from({ length: 205 }, () => invite(tenant)));
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(5);
    await expect(invite(tenant)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('200'),
    });
    const [first] = await directory.invitations.list(tenant, now);
    await directory.invitations.withdraw(tenant, first?.id ?? '', 'x', now);
    await invite(tenant);
  });

  test('the sweep drops what does not wait, and nothing else', async () => {
    const { directory, newTenant, newPerson, rows } = lab();
    const { invitations } = directory;
    const tenant = await newTenant();
    const [accepted, withdrawn] = [await invite(tenant), await invite(tenant)];
    await invite(tenant, { expiresAt: now });
    const waiting = await invite(tenant, { expiresAt: now + 1 });
    await invitations.accept(accepted.hash, await newPerson('Zoe'), 5);
    await invitations.withdraw(tenant, withdrawn.id, 'x', 5);
    await invitations.sweep(now);
    expect((await rows('invitations', tenant)).map(({ id }) => id)).toEqual([waiting.id]);
  });
}
