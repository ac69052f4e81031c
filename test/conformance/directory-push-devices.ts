import { expect, test } from 'vitest';
import { limits } from '#contract/limits.ts';
import type { DirectoryLab } from './directory.ts';

export function pushDevicesConformance(lab: () => DirectoryLab): void {
  const made = async (kind: 'push' | 'webhook' = 'push') => {
    const tenant = await lab().newTenant();
    const record = {
      tenant,
      id: 'c',
      name: 'c',
      kind,
      enabled: true,
      settings: {},
      secrets: [],
      sealed: null,
    };
    await lab().directory.channels.create({ ...record, createdAt: 5, updatedAt: 5 }, 'ann');
    return tenant;
  };
  const refOf = (tenant: number, id: string) => ({ tenant, channel: 'c', id });
  const device = (name: string, replaces: string[] = []) => ({ name, sealed: `sealed ${name}`, replaces });
  const added = async (tenant: number, id: string, replaces?: string[]) => {
    const { pushDevices } = lab().directory;
    await pushDevices.createLink(refOf(tenant, id), { expiresAt: 100, person: null }, 'ann', 10);
    return pushDevices.add(refOf(tenant, id), device(id, replaces), 20);
  };

  test('devices of a member go with them, from this tenant only; nobody else can have any', async () => {
    const { directory, newPerson, audit } = lab();
    const { pushDevices, members } = directory;
    const [tenant, other] = [await made(), await made()];
    const person = await newPerson('Ann');
    const link = (of: number, id: string, owner: string | null) =>
      pushDevices.createLink(refOf(of, id), { expiresAt: 100, person: owner }, 'ann', 10);
    expect(await link(tenant, 'd', person)).toBe(false);
    for (const each of [tenant, other]) {
      await members.add(each, person, 'member', 'test', 1);
      expect(await link(each, 'd', person)).toBe(true);
      expect(await pushDevices.add(refOf(each, 'd'), device('d'), 20)).toBe(true);
    }
    expect(await link(tenant, 'unused', person)).toBe(true);
    await added(tenant, 'of nobody');
    expect(await pushDevices.list(tenant, 'c')).toMatchObject([{ person }, { person: null }]);
    expect((await audit(tenant)).find(({ action }) => action === 'push-device.link')?.detail).toEqual({
      ...{ device: 'd', person },
    });
    const leaving = { tenant, person, as: 'owner', by: 'ann', at: 30 } as const;
    expect(await members.remove(leaving)).toBe('done');
    expect(await pushDevices.list(tenant, 'c')).toMatchObject([{ name: 'of nobody' }]);
    expect(await pushDevices.linkEnds(refOf(tenant, 'unused'))).toBeUndefined();
    expect(await pushDevices.list(other, 'c')).toMatchObject([{ person }]);
  });

  test('a link becomes one device, once and in time; it is audited without the subscription', async () => {
    const { pushDevices } = lab().directory;
    const tenant = await made();
    const [ref, late] = [refOf(tenant, 'd'), refOf(tenant, 'late')];
    expect(await pushDevices.add(ref, device('d'), 20)).toBe(false);
    expect(await pushDevices.createLink(ref, { expiresAt: 100, person: null }, 'ann', 10)).toBe(true);
    expect(await pushDevices.createLink(late, { expiresAt: 30, person: null }, 'ann', 10)).toBe(true);
    expect(await pushDevices.linkEnds(ref)).toBe(100);
    expect(await pushDevices.find(ref)).toBeUndefined();
    expect(await pushDevices.list(tenant, 'c')).toEqual([]);
    const both = await Promise.all([
      pushDevices.add(ref, device('one'), 20),
      pushDevices.add(ref, device('other'), 20),
    ]);
    expect(both.toSorted()).toEqual([false, true]);
    expect(await pushDevices.add(late, device('late'), 30)).toBe(false);
    expect(await pushDevices.linkEnds(ref)).toBeUndefined();
    const name = both[0] ? 'one' : 'other';
    const record = {
      ...{ ...ref, ...device(name), person: null, addedAt: 20 },
      ...{ lastDeliveredAt: null, lastNotification: null, lastError: null },
    };
    const { replaces: _, ...known } = record;
    expect(await pushDevices.find(ref)).toEqual(known);
    expect(await pushDevices.list(tenant, 'c')).toEqual([known]);
    const entries = await lab().audit(tenant);
    expect(entries.slice(1)).toMatchObject([
      { action: 'push-device.link', by: 'ann', subject: 'c' },
      { action: 'push-device.link' },
      { action: 'push-device.add', by: 'ann', detail: { name, device: 'd' } },
    ]);
    expect(JSON.stringify(entries)).not.toContain('sealed');
  });

  test('a device replaces those that are named, and an attempt is recorded for those that took part', async () => {
    const { pushDevices } = lab().directory;
    const tenant = await made();
    for (const id of ['a', 'b']) await added(tenant, id);
    expect(await added(tenant, 'c', ['a'])).toBe(true);
    const attempts = [
      { id: 'b', error: null },
      { id: 'c', error: 'x'.repeat(1_000) },
    ];
    await pushDevices.record({ tenant, channel: 'c' }, 'n1', attempts, 50);
    await pushDevices.record({ tenant, channel: 'c' }, 'n2', [], 60);
    expect(await pushDevices.list(tenant, 'c')).toMatchObject([
      { id: 'b', lastDeliveredAt: 50, lastNotification: 'n1', lastError: null },
      { id: 'c', lastDeliveredAt: null, lastNotification: null, lastError: 'x'.repeat(300) },
    ]);
    expect(await pushDevices.renew(refOf(tenant, 'c'), 'new', 60)).toBe(true);
    expect(await pushDevices.renew(refOf(tenant, 'a'), 'new', 60)).toBe(false);
    expect(await pushDevices.find(refOf(tenant, 'c'))).toMatchObject({ sealed: 'new', lastError: null });
    const end = (ended: string) =>
      pushDevices.record({ tenant, channel: 'c' }, 'n3', [{ id: 'c', error: 'ended', ended }], 65);
    // Between the answer of the push service and the record, the device got another subscription.
    await end('sealed c');
    expect(await pushDevices.find(refOf(tenant, 'c'))).toMatchObject({ sealed: 'new', lastError: null });
    await end('new');
    expect(await pushDevices.find(refOf(tenant, 'c'))).toMatchObject({ sealed: '', lastError: 'ended' });
    expect(await pushDevices.renew(refOf(tenant, 'c'), 'newer', 66)).toBe(true);
    // A test takes no notification's place.
    await pushDevices.record({ tenant, channel: 'c' }, undefined, [{ id: 'b', error: null }], 67);
    expect(await pushDevices.find(refOf(tenant, 'b'))).toMatchObject({
      ...{ lastDeliveredAt: 67, lastNotification: 'n1' },
    });
    expect(await pushDevices.remove(refOf(tenant, 'c'), 'x', 70)).toBe(true);
    expect(await pushDevices.remove(refOf(tenant, 'c'), 'x', 70)).toBe(false);
    expect((await pushDevices.list(tenant, 'c')).map(({ id }) => id)).toEqual(['b']);
  });

  test('a push channel takes so many devices and links; links that are over make room; it takes them along', async () => {
    const { pushDevices, channels } = lab().directory;
    const [tenant, theirs] = [await made(), await made()];
    await added(theirs, 'd');
    const make = (id: string, at: number) =>
      pushDevices.createLink(refOf(tenant, id), { expiresAt: at + 50, person: null }, 'x', at);
    const most = limits.devicesPerChannel;
    await Promise.all(Array.from({ length: most }, (_, i) => make(`${i}`, 10)));
    await expect(make('more', 20)).rejects.toMatchObject({ code: 'conflict' });
    expect(await make('more', 60)).toBe(true);
    expect(await pushDevices.linkEnds(refOf(tenant, '0'))).toBeUndefined();
    await channels.remove(tenant, 'c', 'x', 70);
    expect(await pushDevices.linkEnds(refOf(tenant, 'more'))).toBeUndefined();
    expect(await make('none', 80)).toBe(false);
    expect(await pushDevices.list(theirs, 'c')).toHaveLength(1);
    const other = refOf(await made('webhook'), 'd');
    expect(await pushDevices.createLink(other, { expiresAt: 100, person: null }, 'x', 10)).toBe(false);
  });
}
