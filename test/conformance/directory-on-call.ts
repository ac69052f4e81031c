import { expect, test } from 'vitest';
import type { OnCallFields } from '#contract/routing/on-call.ts';
import type { TenantId } from '#core/log/route.ts';
import { newRule } from '#core/routing/rules.ts';
import type { DirectoryLab } from './directory.ts';

const rota = {
  firstWeek: '2026-11-30',
  shifts: [{ days: ['mon' as const], from: '09:00', until: '17:00', people: ['Ana'] }],
};
const fields = (changed: Partial<OnCallFields> = {}): OnCallFields => ({
  ...{ name: 'ops', timeZone: 'UTC', people: [{ name: 'Ana', channels: ['c1'] }] },
  ...{ rota, calendar: null, alertBeforeMs: 0 },
  ...changed,
});
const ofCalendar = (url: string, name = 'ops') => fields({ name, rota: null, calendar: { url } });
const unread = { copy: null, etag: null, readAt: null, failingSince: null, error: null };

export function onCallConformance(lab: () => DirectoryLab): void {
  const create = (tenant: TenantId, id: string, given: OnCallFields, at = 1) =>
    lab().directory.onCall.create({ ...given, tenant, id, createdAt: at, updatedAt: at }, 'ann');
  /** Other tests leave calendars that are due. */
  const claim = async (tenant: TenantId, now: number, until: number) => {
    const claimed = await lab().directory.onCall.claimCalendars(now, until, 100);
    return claimed.filter((each) => each.tenant === tenant);
  };

  test('an on-call schedule is created, changed and removed by its own tenant; each change is reported and audited', async () => {
    const { directory, newTenant, audit, reportsChange } = lab();
    const [mine, theirs] = [await newTenant(), await newTenant()];
    const { onCall } = directory;
    await create(theirs, 'x', fields());
    expect(await reportsChange(mine, () => create(mine, 'b', fields()))).toBe(true);
    await create(mine, 'a', fields({ name: 'net' }));
    expect((await onCall.list(mine)).map(({ id }) => id)).toEqual(['a', 'b']);
    expect(await onCall.find(mine, 'x')).toBeUndefined();
    const renamed = () => onCall.update(mine, 'b', (known) => ({ ...known, name: 'first' }), 'ben', 7);
    expect(await reportsChange(mine, renamed)).toBe(true);
    expect(await reportsChange(mine, renamed)).toBe(false);
    expect(await onCall.find(mine, 'b')).toEqual({
      ...fields({ name: 'first' }),
      ...{ tenant: mine, id: 'b', createdAt: 1, updatedAt: 7, reading: unread },
    });
    expect(await onCall.update(mine, 'x', (known) => known, 'ben', 7)).toBeUndefined();
    expect(await onCall.remove(mine, 'x', 'ben', 8)).toBe(false);
    const { revision } = await directory.rules.set(mine);
    expect(await onCall.remove(mine, 'b', 'ben', 8, revision + 1)).toBeUndefined();
    expect(await reportsChange(mine, () => onCall.remove(mine, 'b', 'ben', 8, revision))).toBe(true);
    expect(await audit(mine)).toMatchObject([
      { action: 'on-call.create', subject: 'b', by: 'ann', detail: fields() },
      { action: 'on-call.create', subject: 'a' },
      {
        ...{ action: 'on-call.update', by: 'ben', at: 7 },
        detail: { name: 'ops', before: { name: 'ops' }, after: { name: 'first' } },
      },
      { action: 'on-call.delete', subject: 'b', detail: fields({ name: 'first' }) },
    ]);
  });

  test('a rule cannot begin to name an on-call schedule that was deleted meanwhile; a rule that named it can be changed', async () => {
    const { directory, newTenant } = lab();
    const { onCall, rules } = directory;
    const tenant = await newTenant();
    await create(tenant, 's', fields());
    await create(await newTenant(), 'theirs', fields());
    const rule = (id: string, schedule: string, name = id) =>
      newRule(id, { name, then: { onCall: schedule } }, 'UTC');
    const gone = { code: 'conflict', message: expect.stringContaining('is deleted') };
    for (const position of [undefined, 1]) {
      const make = (id: string) => rules.create(tenant, rule(id, 'theirs'), 'x', 1, position);
      await expect(make(`r${position}`)).rejects.toMatchObject(gone);
    }
    await rules.create(tenant, rule('a', 's'), 'x', 1);
    const { revision } = await rules.set(tenant);
    expect(await rules.update(tenant, rule('a', 'theirs'), 'x', 2, revision)).toBeUndefined();
    // As an earlier version of the server allowed it.
    expect(await onCall.remove(tenant, 's', 'x', 3)).toBe(true);
    expect(await rules.update(tenant, rule('a', 's', 'other name'), 'x', 4, revision)).toMatchObject({
      name: 'other name',
    });
  });

  test('of a rule that begins to name an on-call schedule and its deletion at the same moment, one happens', async () => {
    const { directory, newTenant } = lab();
    const { onCall, rules } = directory;
    const tenant = await newTenant();
    for (let i = 0; i < 10; i++) {
      const id = `s${i}`;
      await create(tenant, id, fields({ name: id }));
      const { revision } = await rules.set(tenant);
      const [made, removed] = await Promise.allSettled([
        rules.create(tenant, newRule(`r${i}`, { name: id, then: { onCall: id } }, 'UTC'), 'x', 1),
        onCall.remove(tenant, id, 'x', 1, revision),
      ]);
      expect(removed).toEqual({
        status: 'fulfilled',
        value: made.status === 'rejected' ? true : undefined,
      });
    }
  });

  test('the name of an on-call schedule is of one alone, and there are at most 50', async () => {
    const { directory, newTenant } = lab();
    const tenant = await newTenant();
    await create(tenant, 'a', fields());
    const taken = { code: 'conflict', message: expect.stringContaining('"ops"') };
    await expect(create(tenant, 'b', fields())).rejects.toMatchObject(taken);
    await create(tenant, 'b', fields({ name: 'net' }));
    const renamed = directory.onCall.update(tenant, 'b', (known) => ({ ...known, name: 'ops' }), 'x', 2);
    await expect(renamed).rejects.toMatchObject(taken);
    const many = Array.from({ length: 50 }, (_, i) => create(tenant, `n${i}`, fields({ name: `n${i}` })));
    const results = await Promise.allSettled(many);
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(2);
  });

  test('a calendar is read by one caller, and again only after its time', async () => {
    const { newTenant } = lab();
    const tenant = await newTenant();
    await create(tenant, 'rota', fields({ name: 'rota' }));
    await create(tenant, 'a', ofCalendar('https://a.example/'), 1_000);
    expect(await claim(tenant, 999, 2_000)).toEqual([]);
    const claims = await Promise.all([claim(tenant, 1_000, 2_000), claim(tenant, 1_000, 2_000)]);
    expect(claims.flat().map(({ id }) => id)).toEqual(['a']);
    expect(await claim(tenant, 1_999, 3_000)).toEqual([]);
    expect(await claim(tenant, 2_000, 3_000)).toHaveLength(1);
  });

  test('what was read stays while the calendar fails; another copy, and the begin and end of the failure, are changes', async () => {
    const { directory, newTenant, audit, reportsChange } = lab();
    const tenant = await newTenant();
    const { onCall } = directory;
    await create(tenant, 'a', ofCalendar('https://a.example/'));
    await audit(tenant);
    const read = async (...[result, at]: [Parameters<typeof onCall.recordRead>[1], number]) => {
      const record = await onCall.find(tenant, 'a');
      if (!record) throw new Error('it is gone');
      return onCall.recordRead(record, result, at);
    };
    const copy = { events: [{ from: 1, until: 2, text: 'Ana' }], until: 99 };
    const first = { kind: 'read', copy, etag: '"1"' } as const;
    expect(await reportsChange(tenant, () => read(first, 10))).toBe(true);
    expect(await reportsChange(tenant, () => read({ ...first, etag: '"2"' }, 20))).toBe(false);
    expect(await reportsChange(tenant, () => read({ kind: 'failed', error: 'away' }, 30))).toBe(true);
    expect(await reportsChange(tenant, () => read({ kind: 'failed', error: 'still away' }, 40))).toBe(false);
    const failing = { copy, etag: '"2"', readAt: 20, failingSince: 30, error: 'still away' };
    expect((await onCall.find(tenant, 'a'))?.reading).toEqual(failing);
    expect(await reportsChange(tenant, () => read({ kind: 'unchanged' }, 50))).toBe(true);
    expect(await reportsChange(tenant, () => read({ kind: 'unchanged' }, 50))).toBe(false);
    // Two readings at the same time begin from the same record.
    const begun = await onCall.find(tenant, 'a');
    if (!begun) throw new Error('there is none');
    const failed = { kind: 'failed', error: 'away' } as const;
    expect(await reportsChange(tenant, () => onCall.recordRead(begun, failed, 60))).toBe(true);
    expect(await reportsChange(tenant, () => onCall.recordRead(begun, { kind: 'unchanged' }, 50))).toBe(true);
    expect(await reportsChange(tenant, () => onCall.recordRead(begun, first, 50))).toBe(false);
    expect(await reportsChange(tenant, () => onCall.recordRead(begun, { ...first, etag: '"2"' }, 50))).toBe(
      false,
    );
    const again = { copy, etag: '"2"', readAt: 50, failingSince: null, error: null };
    expect((await onCall.find(tenant, 'a'))?.reading).toEqual(again);
    expect(await audit(tenant)).toEqual([]);
  });

  test('another calendar drops what was read, and what was read of the one before comes too late', async () => {
    const { directory, newTenant } = lab();
    const tenant = await newTenant();
    const { onCall } = directory;
    const copy = { events: [], until: 99 };
    await create(tenant, 'a', ofCalendar('https://a.example/'));
    const [before] = await claim(tenant, 10, 1_000_000);
    if (!before) throw new Error('it is not due');
    await onCall.recordRead(before, { kind: 'read', copy, etag: '"1"' }, 20);
    await onCall.update(tenant, 'a', () => ofCalendar('https://b.example/'), 'x', 30);
    expect((await onCall.find(tenant, 'a'))?.reading).toEqual(unread);
    expect(
      await onCall.recordRead(before, { kind: 'read', copy: { ...copy, until: 100 }, etag: null }, 40),
    ).toBe(false);
    expect((await onCall.find(tenant, 'a'))?.reading).toEqual(unread);
    expect(await claim(tenant, 30, 1_000_000)).toHaveLength(1);
  });
}
