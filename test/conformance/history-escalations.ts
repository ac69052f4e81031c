import { expect, test } from 'vitest';
import { alarmNotifications } from '#core/alarms/notifications.ts';
import type { AlarmAction, AppendTerms, DueStep, History, NotificationDraft } from '#core/log/log.ts';
import type { Escalation, TenantId } from '#core/log/route.ts';
import { routeTo } from '#test/support/notification-draft.ts';
import { draft, everyone, type HistoryLab, lobby, now, readAll, shownOn, store } from './history-lab.ts';

const minute = 60_000;
const key = 'disk';
const escalation: Escalation = {
  rule: { id: 'r', name: 'on call' },
  steps: [{ afterMs: 5 * minute }, { afterMs: 10 * minute, unless: 'shown' }],
};
/** The draft must be made for no other notification. */
const changed = { kind: 'changed', id: null, step: 0 };
const first = { ...escalation, step: 0, nextAt: now + 5 * minute };

/** What is stored of an escalation with each notification of its alarm. */
export function escalationsConformance(lab: () => HistoryLab): void {
  async function open() {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const { history } = database;
    const append = (over: Partial<NotificationDraft> = {}, terms: AppendTerms = { escalation }) =>
      history.append(tenant, draft({ key, rank: 40, ...over }), null, terms);
    const send = async (over: Partial<NotificationDraft> = {}, terms: AppendTerms = { escalation }) => {
      const outcome = await append(over, terms);
      if (outcome.kind !== 'stored') throw new Error(outcome.kind);
      return outcome.id;
    };
    return {
      ...{ ...database, tenant, append, send },
      act: (id: string, action: Partial<AlarmAction>) =>
        history.act(tenant, [id], { at: now + 1, by: 'Ada', note: null, ...action } as AlarmAction),
      escalationOf: async (id: string) => (await history.find(tenant, id))?.alarm?.escalation,
      due: (at: number) => dueOf(history, tenant, at),
    };
  }

  test('a new alarm waits for its first step, and a repeat neither delays nor restarts it', async () => {
    const { send, due, escalationOf } = await open();
    const id = await send();
    expect(await escalationOf(id)).toEqual(first);
    const other = { rule: { id: 'o', name: 'other' }, steps: [{ afterMs: 1 }] };
    const repeat = await send({ receivedAt: now + minute }, { escalation: other });
    expect(await escalationOf(repeat)).toEqual(first);
    expect(await escalationOf(id)).toBeUndefined();
    expect(await due(now + 5 * minute - 1)).toEqual([]);
    expect(await due(now + 5 * minute)).toEqual([{ id: repeat, step: 0 }]);
  });

  test('what replaces an alarm without an escalation of its own ends it', async () => {
    const { send, due, escalationOf } = await open();
    await send();
    const id = await send({}, {});
    expect(await escalationOf(id)).toBeUndefined();
    expect(await due(now + 60 * minute)).toEqual([]);
    expect(await escalationOf(await send({ receivedAt: now }))).toEqual(first);
  });

  test.each([
    ['with a key', key],
    ['without one', null],
  ])('a step replaces an alarm %s and moves it to the next step', async (_, ofKey) => {
    const { send, append, due, history, tenant, escalationOf } = await open();
    const id = await send({ key: ofKey });
    const at = now + 6 * minute;
    const over = { key: ofKey, receivedAt: at };
    expect(await append(over, { replaces: id, step: 1 })).toEqual(changed);
    const step = await send(over, { replaces: id, step: 0 });
    expect(await escalationOf(step)).toEqual({ ...escalation, step: 1, nextAt: at + 10 * minute });
    expect((await history.find(tenant, step))?.alarm).toMatchObject({ since: now, count: 2 });
    expect((await history.find(tenant, id))?.cleared).toMatchObject({ reason: 'replaced', by: step });
    expect(await shownOn(history, tenant)).toEqual([step]);
    expect(await append(over, { replaces: id, step: 0 })).toEqual(changed);
    const last = await send({ key: ofKey, receivedAt: at }, { replaces: step, step: 1 });
    expect(await escalationOf(last)).toEqual({ ...escalation, step: 2, nextAt: null });
    expect(await due(at + 60 * minute)).toEqual([]);
  });

  test.each([
    ['with a key', key],
    ['without one', null],
  ])('of many who send a step %s at once, one does', async (_, ofKey) => {
    const { send, append, history, tenant } = await open();
    const id = await send({ key: ofKey });
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () => append({ key: ofKey }, { replaces: id, step: 0 })),
    );
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual([...Array(9).fill('changed'), 'stored']);
    expect(await shownOn(history, tenant)).toHaveLength(1);
    expect(await readAll(history, tenant)).toHaveLength(3);
  });

  test('the steps do not count as notifications of the alarm, repeats and what a throttle counts do', async () => {
    const { send, history, tenant } = await open();
    const countOf = async (id: string) => (await history.find(tenant, id))?.alarm?.count;
    const escalated = (times: number) => ({ escalated: { times, since: now } });
    const id = await send();
    const stepOf = (of: string, times: number) => ({
      route: routeTo(everyone, { escalates: of, ...escalated(times) }),
    });
    const step = await send(stepOf(id, 1), { replaces: id, step: 0 });
    expect(await countOf(step)).toBe(1);
    const last = await send(stepOf(step, 2), { replaces: step, step: 1 });
    expect(await countOf(last)).toBe(1);
    await send({ throttledOn: last, throttleCount: 1 });
    expect(await countOf(last)).toBe(2);
    const repeat = routeTo(everyone, { repeats: last, ...escalated(2) });
    expect(await countOf(await send({ route: repeat }, { escalation, step: 2 }))).toBe(3);
  });

  test('a repeat that was not made for the step of its alarm is not stored, also if a throttle counts it', async () => {
    const { send, append, history, tenant, escalationOf } = await open();
    const id = await send();
    const step = await send({}, { replaces: id, step: 0 });
    const head = async () => (await history.bounds(tenant)).head;
    const before = await head();
    const retry = { key: 'retry', hash: 'h' };
    const late = draft({ key, rank: 40 });
    const newer = { kind: 'changed', id: step, step: 1 };
    expect(await history.append(tenant, late, retry, { escalation })).toEqual(newer);
    expect(await append({ throttledOn: id, throttleCount: 1 })).toEqual(newer);
    expect(await head()).toBe(before);
    expect(await history.findRepeat(tenant, retry, now)).toBeUndefined();
    await send({ throttledOn: step, throttleCount: 1 });
    expect(await shownOn(history, tenant)).toEqual([step]);
    const repeat = await send({ receivedAt: now + 1 }, { escalation, step: 1 });
    expect(await escalationOf(repeat)).toMatchObject({ step: 1, nextAt: now + 10 * minute });
    // One that was made for a step of an alarm that has ended.
    await history.clear(tenant, repeat, 'Ada', now + 2);
    expect(await append({}, { escalation, step: 1 })).toEqual(changed);
  });

  test('while an alarm is acknowledged or shelved no step is due, nor for its repeats', async () => {
    const { send, append, act, due, escalationOf } = await open();
    const at = now + 60 * minute;
    for (const [kind, back] of [
      ['acknowledge', 'unacknowledge'],
      ['shelve', 'unshelve'],
    ] as const) {
      const id = await send({ key: kind });
      await act(id, { kind, ...(kind === 'shelve' && { until: at }) });
      expect(await escalationOf(id)).toEqual({ ...first, nextAt: null });
      expect(await append({ key: kind }, { replaces: id, step: 0 })).toMatchObject({ kind: 'changed' });
      const repeat = await send({ key: kind, rank: 30 });
      expect(await due(at)).toEqual([]);
      await act(repeat, { kind: back });
      expect(await escalationOf(repeat)).toEqual(first);
      expect(await due(at)).toEqual([{ id: repeat, step: 0 }]);
      await act(repeat, { kind: 'clear' });
    }
  });

  test('what must be acknowledged anew is escalated anew', async () => {
    const { send, append, act, escalationOf } = await open();
    const id = await send();
    const step = await send({}, { replaces: id, step: 0 });
    await act(step, { kind: 'acknowledge' });
    const at = now + minute;
    const worse = await send({ rank: 50, receivedAt: at });
    const anew = { ...escalation, step: 0, nextAt: at + 5 * minute };
    expect(await escalationOf(worse)).toEqual(anew);
    await act(worse, { kind: 'acknowledge' });
    const missing = { route: routeTo(everyone, { origin: 'belfry:expectation' }), receivedAt: at };
    const overdue = await send(missing);
    expect(await escalationOf(overdue)).toEqual(anew);
    await act(overdue, { kind: 'shelve', until: now + 60 * minute });
    expect(await escalationOf(await send({ receivedAt: at }))).toEqual({ ...anew, nextAt: null });
    expect(await escalationOf(await send({ rank: 60, receivedAt: at }))).toEqual(anew);
    expect(await append({ rank: 70 }, { escalation, step: 1 })).toMatchObject({ kind: 'changed' });
  });

  test('after the last step, and after a panel has shown what a step is not for then, repeats begin nothing', async () => {
    const { send, receipts, tenant, due, escalationOf } = await open();
    const id = await send();
    const step = await send({}, { replaces: id, step: 0 });
    const repeat = await send({}, { escalation, step: 1 });
    expect(await due(now + 10 * minute)).toEqual([{ id: repeat, step: 1 }]);
    await receipts.record(tenant, lobby, [{ id: repeat, state: 'shown', at: now }]);
    const shown = await send({}, { escalation, step: 1 });
    expect(await escalationOf(shown)).toEqual({ ...escalation, step: 1, nextAt: null });
    expect(await escalationOf(step)).toBeUndefined();
    expect(await escalationOf(await send({}, { escalation, step: 1 }))).toMatchObject({ nextAt: null });
    expect(await due(now + 60 * minute)).toEqual([]);
  });

  test('a due step is put off, or is the last one, or the alarm forgets its escalation', async () => {
    const { send, history, tenant, escalationOf, due, act } = await open();
    const id = await send();
    const step = { tenant, id, step: 0 };
    await history.settleStep({ ...step, step: 1 }, null);
    await history.settleStep(step, now + 7 * minute);
    expect(await due(now + 6 * minute)).toEqual([]);
    expect(await due(now + 7 * minute)).toEqual([{ id, step: 0 }]);
    await history.settleStep(step, null);
    await act(id, { kind: 'acknowledge' });
    await act(id, { kind: 'unacknowledge' });
    expect(await escalationOf(id)).toEqual({ ...first, nextAt: null });
    const other = await send({ key: 'other' });
    await history.settleStep({ tenant, id: other, step: 0 }, undefined);
    expect(await escalationOf(other)).toBeUndefined();
    expect(await escalationOf(await send({ key: 'other' }))).toEqual(first);
    expect(await due(now + 60 * minute)).toHaveLength(1);
  });

  test('steps of a tenant that is suspended, and of what has expired, are not due', async () => {
    const { send, directory, tenant, due } = await open();
    await send({ expiresAt: now + minute, ttl: minute });
    expect(await due(now + 5 * minute)).toEqual([]);
    const id = await send({ receivedAt: now + minute });
    await directory.tenants.setState(tenant, 'suspended', 'test', 2);
    expect(await due(now + 60 * minute)).toEqual([]);
    await directory.tenants.setState(tenant, 'active', 'test', 3);
    expect(await due(now + 60 * minute)).toEqual([{ id, step: 0 }]);
  });

  test.each([
    ['with a key', key],
    ['without one', null],
  ])('an alarm %s has its notifications, whichever of them names it', async (_, ofKey) => {
    const { send, history, tenant } = await open();
    const id = await send({ key: ofKey, receivedAt: now });
    const over = (step: number, escalates: string) => ({
      ...{ key: ofKey, receivedAt: now + step * minute },
      route: routeTo(everyone, { escalates, escalated: { times: step, since: now, rules: [] } }),
    });
    const step = await send(over(1, id), { replaces: id, step: 0 });
    const last = await send(over(2, step), { replaces: step, step: 1 });
    for (const each of [id, step, last]) {
      const given = await history.find(tenant, each);
      const found = given && (await alarmNotifications({ history, now: () => now }, tenant, given));
      expect(found?.map((record) => record.id)).toEqual([last, step, id]);
    }
  });

  test('an alarm that a resolve has ended has its notifications, whichever of them names it', async () => {
    const { send, history, tenant } = await open();
    const id = await send({ receivedAt: now }, {});
    const repeat = await send({ receivedAt: now + 1 }, {});
    const resolve = await send({ receivedAt: now + 2, rank: 10, level: 'success' }, {});
    for (const each of [id, repeat, resolve]) {
      const given = await history.find(tenant, each);
      const found = given && (await alarmNotifications({ history, now: () => now + 3 }, tenant, given));
      expect(found?.map((record) => record.id)).toEqual([resolve, repeat, id]);
    }
  });

  test('steps move with the clock of a single server, as due times do', async () => {
    const { send, dueTimes, escalationOf } = await open();
    const id = await send();
    await dueTimes.shift(60 * minute);
    expect(await escalationOf(id)).toEqual({ ...first, nextAt: now + 65 * minute });
    await dueTimes.shift(-60 * minute);
    expect(await escalationOf(id)).toEqual(first);
  });

  test('a repeat and a step at once leave one alarm, whose escalation goes on', async () => {
    const { send, append, history, tenant, escalationOf } = await open();
    const id = await send();
    await Promise.all([
      ...Array.from({ length: 5 }, () => append()),
      append({}, { replaces: id, step: 0 }),
      ...Array.from({ length: 5 }, () => append()),
    ]);
    const [last, ...more] = await shownOn(history, tenant);
    expect(more).toEqual([]);
    expect([0, 1]).toContain((await escalationOf(last as string))?.step);
    expect((await store(history, tenant)).id).not.toBe(last);
  });
}

/** Other tests leave due steps in the database. */
async function dueOf(history: History, tenant: TenantId, at: number): Promise<Omit<DueStep, 'tenant'>[]> {
  const due = await history.dueSteps(at, 10_000);
  return due.filter((each) => each.tenant === tenant).map(({ id, step }) => ({ id, step }));
}
