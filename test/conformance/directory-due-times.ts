import { expect, test } from 'vitest';
import { type DueTime, type DueTimes, Schedule } from '#core/alarms/schedule.ts';
import { createDueTimes } from '#storage/directory/due-times.ts';
import { eventually } from '../support/eventually.ts';
import type { DirectoryLab } from './directory.ts';

/** Years from now for whatever else is in the database. */
let epoch = Date.UTC(2030, 0, 1);

/** A schedule with a clock that the test sets, and what its handler was called with. */
function newNode(
  dueTimes: DueTimes,
  start: number,
  { isShared = false, fails = false }: { isShared?: boolean; fails?: boolean } = {},
) {
  const clock = { wall: start, monotonic: 0 };
  const fired: DueTime[] = [];
  const schedule = new Schedule({
    dueTimes,
    now: () => clock.wall,
    monotonicNow: () => clock.monotonic,
    isShared,
    onError: () => undefined,
  });
  schedule.handle('expectation', async (due) => {
    fired.push(due);
    if (fails) throw new Error('killed before it was settled');
    await dueTimes.settle(due, undefined);
  });
  const pass = (ms: number) => {
    clock.wall += ms;
    clock.monotonic += ms;
  };
  /** Looks as after a start, and ends once that is done. */
  const look = async () => {
    schedule.start();
    await eventually(
      async () => expect((await dueTimes.next()) ?? Number.POSITIVE_INFINITY).toBeGreaterThan(clock.wall),
      { interval: 5 },
    );
    await schedule.stop();
  };
  return { schedule, clock, fired, pass, look };
}

/** A schedule on the real clock, and the subjects that it handled. */
function newRealNode(dueTimes: DueTimes, now = Date.now) {
  const fired: string[] = [];
  const schedule = new Schedule({
    dueTimes,
    now,
    monotonicNow: () => performance.now(),
    isShared: false,
    onError: () => undefined,
  });
  schedule.handle('expectation', async (due) => {
    fired.push(due.subject);
    await dueTimes.settle(due, undefined);
  });
  return { schedule, fired };
}

/** Due times: each is kept until it is settled, and claimed by one node at a time. */
export function dueTimesConformance(lab: () => DirectoryLab): void {
  const open = async () => {
    const { db, newTenant } = lab();
    epoch += 30 * 86_400_000;
    return { dueTimes: createDueTimes(db), tenant: await newTenant(), start: epoch };
  };

  test('a subject has one due time: a later one takes its place, and what was read before cannot settle it', async () => {
    const { dueTimes, tenant, start } = await open();
    const subject = { tenant, kind: 'expectation', subject: 'ключ /?' } as const;
    await dueTimes.put({ ...subject, dueAt: start, data: { n: 1 } });
    const first = (await dueTimes.find(subject)) as DueTime;
    expect(first).toEqual({ ...subject, dueAt: start, data: { n: 1 }, version: expect.any(String) });
    await dueTimes.put({ ...subject, dueAt: start + 5, data: { n: 2 } });
    expect(await dueTimes.settle(first, undefined)).toBe(false);
    const second = (await dueTimes.find(subject)) as DueTime;
    expect(await dueTimes.settle(second, { dueAt: null, data: 3 })).toBe(true);
    expect(await dueTimes.settle(second, undefined)).toBe(false);
    const { newTenant } = lab();
    const other = await newTenant();
    expect(await dueTimes.list(other, 'expectation', 10)).toEqual([]);
    expect(await dueTimes.remove({ ...subject, tenant: other })).toBeUndefined();
    expect(await dueTimes.count(tenant, 'expectation')).toBe(1);
    expect(await dueTimes.list(tenant, 'expectation', 10)).toMatchObject([{ dueAt: null, data: 3 }]);
    expect(await dueTimes.remove(subject)).toMatchObject({ data: 3 });
    expect(await dueTimes.find(subject)).toBeUndefined();
  });

  test('what became due while nothing ran is handled once, in order, and the rest in its time', async () => {
    const { dueTimes, tenant, start } = await open();
    const node = newNode(dueTimes, start);
    for (const [subject, afterMs] of [
      ['c', 3_000],
      ['a', 1_000],
      ['b', 2_000],
      ['late', 90_000],
    ] as const)
      await node.schedule.put({ tenant, kind: 'expectation', subject }, afterMs, null);
    await node.look();
    expect(node.fired).toEqual([]);
    node.pass(5_000);
    const restarted = newNode(dueTimes, node.clock.wall);
    await restarted.look();
    expect(restarted.fired.map(({ subject }) => subject).sort()).toEqual(['a', 'b', 'c']);
    await restarted.look();
    expect(restarted.fired).toHaveLength(3);
    expect(await dueTimes.next()).toBe(start + 90_000);
    await dueTimes.remove({ tenant, kind: 'expectation', subject: 'late' });
  });

  test('nothing of a suspended tenant becomes due until the tenant is resumed', async () => {
    const { tenants } = lab().directory;
    const { dueTimes, tenant, start } = await open();
    const node = newNode(dueTimes, start);
    await node.schedule.put({ tenant, kind: 'expectation', subject: 'a' }, 1_000, null);
    await tenants.setState(tenant, 'suspended', 'cli', 1);
    expect(await dueTimes.next()).toBeUndefined();
    node.pass(5_000);
    await node.look();
    expect(node.fired).toEqual([]);
    await tenants.setState(tenant, 'active', 'cli', 2);
    node.schedule.start();
    await expect.poll(() => node.fired).toMatchObject([{ subject: 'a' }]);
    // A schedule that sleeps learns of what was resumed when it is woken.
    await node.schedule.put({ tenant, kind: 'expectation', subject: 'b' }, 1_000, null);
    await tenants.setState(tenant, 'suspended', 'cli', 3);
    node.pass(5_000);
    await expect.poll(() => dueTimes.next()).toBeUndefined();
    await tenants.setState(tenant, 'active', 'cli', 4);
    node.schedule.wake();
    await expect.poll(() => node.fired).toMatchObject([{ subject: 'a' }, { subject: 'b' }]);
    await node.schedule.stop();
  });

  test('after a suspension, what is expected has its whole interval again', async () => {
    const { tenants } = lab().directory;
    const { dueTimes, tenant, start } = await open();
    const node = newNode(dueTimes, start);
    const expected = { tenant, kind: 'expectation', subject: 'backup' } as const;
    await node.schedule.put(expected, 1_000, { everyMs: 60_000 });
    await tenants.setState(tenant, 'suspended', 'cli', start);
    node.pass(3_600_000);
    await tenants.setState(tenant, 'active', 'cli', start + 3_600_000);
    await node.look();
    expect(node.fired).toEqual([]);
    expect((await dueTimes.find(expected))?.dueAt).toBe(start + 3_600_000 + 60_000 + 6_000);
    await dueTimes.remove(expected);
  });

  test('of several nodes one claims it, and another one if that has not settled it in half a minute', async () => {
    const { dueTimes, tenant, start } = await open();
    const nodes = Array.from({ length: 3 }, () => newNode(dueTimes, start + 1, { isShared: true }));
    const subjects = Array.from({ length: 150 }, (_, i) => `n${i}`).sort();
    await Promise.all(
      subjects.map((subject) =>
        dueTimes.put({ tenant, kind: 'expectation', subject, dueAt: start, data: null }),
      ),
    );
    await Promise.all(nodes.map(({ look }) => look()));
    const claimed = nodes.flatMap(({ fired }) => fired.map(({ subject }) => subject)).sort();
    expect(claimed).toEqual(subjects);

    await dueTimes.put({ tenant, kind: 'expectation', subject: 'killed', dueAt: start, data: null });
    const dying = newNode(dueTimes, start + 1, { isShared: true, fails: true });
    await dying.look();
    const heir = newNode(dueTimes, start + 1, { isShared: true });
    await heir.look();
    expect([dying.fired.length, heir.fired.length]).toEqual([1, 0]);
    heir.pass(30_000);
    await heir.look();
    // The same version: what was done for it is known.
    expect(heir.fired.map(({ version }) => version)).toEqual(dying.fired.map(({ version }) => version));
  });

  test('due times move with a clock that is set, forward and back', async () => {
    const { dueTimes, tenant, start } = await open();
    const node = newNode(dueTimes, start);
    await node.schedule.put({ tenant, kind: 'expectation', subject: 'x' }, 60_000, null);
    node.clock.wall += 7_200_000;
    await node.look();
    expect(node.fired).toEqual([]);
    node.clock.wall -= 10_000_000;
    node.pass(59_000);
    await node.look();
    expect(node.fired).toEqual([]);
    node.pass(1_000);
    await node.look();
    expect(node.fired).toHaveLength(1);
  });

  test('after a step of the clock it wakes in time for what is added then, and the earlier ones have moved', async () => {
    const { dueTimes, tenant } = await open();
    let step = 0;
    const { schedule, fired } = newRealNode(dueTimes, () => Date.now() + step);
    schedule.start();
    const later = { tenant, kind: 'expectation', subject: 'before the step' } as const;
    await schedule.put(later, 20 * 3_600_000, null);
    const { dueAt } = (await dueTimes.find(later)) as DueTime;
    step = 86_400_000;
    // Nothing is asked of it: it notices by itself.
    await eventually(async () =>
      expect((await dueTimes.find(later))?.dueAt).toBeGreaterThan((dueAt ?? 0) + step - 60_000),
    );
    await schedule.put({ ...later, subject: 'after it' }, 20, null);
    await eventually(() => expect(fired).toEqual(['after it']));
    await schedule.stop();
    await dueTimes.remove(later);
  });

  test('it wakes by itself, and a tenant cannot have more than its share', async () => {
    const { dueTimes, tenant } = await open();
    const { schedule, fired } = newRealNode(dueTimes);
    schedule.start();
    const due = { tenant, kind: 'expectation' } as const;
    const [soon, later] = [
      { ...due, subject: 'soon' },
      { ...due, subject: 'later' },
    ] as const;
    await schedule.put(later, 60_000, null);
    await schedule.put(soon, 20, null);
    await eventually(() => expect(fired).toEqual(['soon']));
    await schedule.put(later, 20, null);
    await eventually(() => expect(fired).toEqual(['soon', 'later']));
    await schedule.stop();
    const { db } = lab();
    await db.write([
      db.insertInto('due_times').values(
        Array.from({ length: 1_000 }, (_, i) => ({
          tenant,
          kind: 'expectation',
          subject: `s${i}`,
          due_at: null,
          version: '',
          data: '0',
        })),
      ),
    ]);
    const put = (subject: string) =>
      newRealNode(dueTimes).schedule.put({ tenant, kind: 'expectation', subject }, 60_000, null);
    await put('s7');
    await expect(put('one more')).rejects.toThrow('there are 1000 expectations already: end some first');
    await dueTimes.remove({ tenant, kind: 'expectation', subject: 's7' });
  });
}
