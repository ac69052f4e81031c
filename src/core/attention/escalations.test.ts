import { expect, test } from 'vitest';
import type { RuleThen, RuleWhen } from '#contract/rule.ts';
import { levels } from '#test/support/arbitrary-rules.ts';
import { ruleSpecWith } from '#test/support/rule-spec.ts';
import { Intake } from '../intake.ts';
import type { CheckedFields } from '../notification.ts';
import type { Sender } from '../own-sender.ts';
import type { History, HistoryRecord, NotificationDraft } from '../ports.ts';
import { compileRules } from '../routing/compile-rules.ts';
import { replay } from '../routing/replay.ts';
import { Throttle } from '../routing/throttle.ts';
import type { Tenancy } from '../tenancy.ts';
import { createAttention } from './attention.ts';
import type { DueTime, DueTimes, NewDueTime } from './due-times.ts';
import { escalationOf } from './escalations.ts';

const sender = { kind: 'token', tenant: 1, id: 'hr', name: 'hr' } as unknown as Sender;
const minute = 60_000;

/** A server's attention and intake on a log and due times in memory; time passes only by `pass`. */
function createLab(when: RuleWhen, then: RuleThen) {
  let at = 1_000_000;
  const log: (HistoryRecord & { cleared: HistoryRecord['cleared'] })[] = [];
  const find = async (_tenant: number, id: string) => log.find((record) => record.id === id);
  const shown = () => log.filter(({ cleared, throttledOn }) => cleared === null && throttledOn === null);
  const history = {
    find,
    findRepeat: async (_tenant: number, { key }: { key: string }) =>
      key === 'sent' ? { kind: 'repeated', id: 'earlier' } : undefined,
    append: async (_tenant: number, draft: NotificationDraft) => {
      const replaced = shown().filter(
        ({ key, id }) => key !== null && key === draft.key && id !== draft.throttledOn,
      );
      for (const record of replaced)
        Object.assign(record, { cleared: { at, by: draft.id, reason: 'replaced' } });
      const before = replaced.find(({ rank }) => draft.rank <= rank && draft.route.origin === undefined);
      const acknowledged = before?.acknowledged ?? null;
      const receipts = { shown: 0, expired: 0, cleared: 0 };
      log.push({ ...draft, cleared: null, acknowledged, receipts } as unknown as HistoryRecord);
      return { kind: 'stored', id: draft.id, entries: [] };
    },
    clear: async (_tenant: number, id: string, by: string | { readonly id: string }) => {
      const of = typeof by === 'string' ? { by, reason: 'cleared' } : { by: by.id, reason: 'replaced' };
      const record = await find(1, id);
      if (record) record.cleared ??= { at, ...of } as HistoryRecord['cleared'];
      return { kind: 'gone' };
    },
    acknowledge: async (_tenant: number, id: string, given: HistoryRecord['acknowledged']) => {
      Object.assign((await find(1, id)) ?? {}, { acknowledged: given });
      return { kind: 'again' };
    },
  } as unknown as History;
  const rows = new Map<string, DueTime>();
  let versions = 0;
  const write = (due: NewDueTime) => {
    versions += 1;
    rows.set(due.subject, { ...due, version: String(versions) });
  };
  const dueTimes = {
    put: async (due: NewDueTime) => write(due),
    find: async ({ subject }: DueTime) => rows.get(subject),
    count: async () => rows.size,
    settle: async (due: DueTime, next: Pick<DueTime, 'dueAt' | 'data'> | undefined) => {
      if (rows.get(due.subject)?.version !== due.version) return false;
      if (next) write({ ...due, ...next });
      else rows.delete(due.subject);
      return true;
    },
  } as unknown as DueTimes;
  const clock = { now: () => at, monotonicNow: () => at };
  const bus = { publish: () => undefined };
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const refused: string[] = [];
  const onRefused = (_tenant: number, kind: string) => void refused.push(kind);
  const full: string[] = [];
  const onFull = (_tenant: number, reason: string) => void full.push(reason);
  const compile = (enabled: boolean) =>
    compileRules({ revision: 1, rules: [ruleSpecWith({ id: 'r', enabled, when, then })] }, { levels });
  let router = compile(true);
  const disableRule = () => {
    router = compile(false);
  };
  const peek = () => ({ router, levels });
  const tenancy = { peek, get: async () => peek() } as unknown as Tenancy;
  const attention = createAttention({
    dueTimes,
    history,
    bus,
    tenancy,
    ...clock,
    isShared: false,
    onError,
    onRefused,
    onFull,
  });
  const intake = new Intake({
    ...{ history, bus, throttle: new Throttle(), attention: attention.forIntake, now: clock.now, onError },
    ...{ tenancy, directory: {} as never, onStored: () => undefined },
  });
  const handlers = new Map<string, (due: DueTime) => Promise<void>>();
  attention.schedule.handle = (kind, handler) => void handlers.set(kind, handler);
  const credentials = { find: async () => undefined };
  attention.handleWith(intake, { credentials } as never);
  const send = (over: Partial<CheckedFields> = {}, retryKey: string | null = null) => {
    const fields = { title: 't', message: 'm', level: 'error', ttl: 0, ip: null, host: null, url: null };
    return intake.accept(
      sender,
      '192.0.2.1',
      { ...fields, key: 'k', ...over },
      retryKey === null ? null : { key: retryKey },
    );
  };
  const pass = async (ms: number) => {
    at += ms;
    for (const due of [...rows.values()])
      if (due.dueAt !== null && due.dueAt <= at) await handlers.get(due.kind)?.(due);
  };
  const escalations = () => log.filter(({ tokenId }) => tokenId === 'belfry:escalation');
  const panels = ['hr', 'ops'].map((tag) => ({ id: tag, name: tag, tags: [tag] }));
  const replayed = (by = router) =>
    replay(
      log.map((record) => ({ ...record, tokenName: record.tokenId })),
      by,
      panels,
    );
  const ofExpectation = { id: 'e', when: { token: ['belfry:expectation'] }, then: { mute: true } };
  const mutesOverdue = compileRules(
    { revision: 2, rules: [ruleSpecWith(ofExpectation), ruleSpecWith({ id: 'r', when, then })] },
    { levels },
  );
  const stateOf = async (id: string) =>
    escalationOf(
      { schedule: attention.schedule, history, now: clock.now, tenancy },
      1,
      (await find(1, id)) as HistoryRecord,
    );
  return {
    stateOf,
    send,
    pass,
    shown,
    escalations,
    rows,
    errors,
    refused,
    full,
    intake,
    history,
    disableRule,
    replayed,
    mutesOverdue,
  };
}

test('what is overdue goes where the missing one would have gone, and no throttle hides it', async () => {
  const then: RuleThen = { panels: { tags: ['hr'] }, throttle: { by: ['token', 'key'], perMs: 60 * minute } };
  const { send, pass, shown, replayed, mutesOverdue } = createLab(
    { token: ['hr'], sourceIp: ['192.0.2.0/24'], host: ['db'] },
    then,
  );
  const of = { host: 'db', ip: '10.0.0.1', url: 'https://example.org/', key: 'backup' };
  await send({ ...of, title: 'Backup', level: 'success', expect: { everyMs: minute, level: 'critical' } });
  await pass(2 * minute);
  expect(shown()).toMatchObject([
    {
      ...{ ...of, title: 'Overdue: Backup', level: 'critical', tokenId: 'hr', sourceIp: '192.0.2.1' },
      route: { target: { all: false, tags: ['hr'] }, origin: 'belfry:expectation' },
    },
  ]);
  expect(await replayed()).toMatchObject({ considered: 2, changed: 0 });
  // Rules find it by what sent it, too.
  expect(await replayed(mutesOverdue)).toMatchObject({
    changed: 1,
    rules: [{ id: 'e', matchedAfter: 1 }, { id: 'r' }],
  });
});

test('a replay with the same rules changes nothing of escalations and their repeats', async () => {
  const escalate = [{ afterMs: minute, setLevel: 'critical', panels: { ids: ['boss'] } }];
  const { send, pass, replayed } = createLab({ token: ['hr'] }, { panels: { tags: ['ops'] }, escalate });
  await send();
  await pass(minute);
  await send();
  await send();
  expect(await replayed()).toMatchObject({ considered: 4, changed: 0 });
});

const once: RuleThen = { escalate: [{ afterMs: 5 * minute, setLevel: 'critical' }] };

test('after the last step repeats begin nothing anew, until the key has been off the panels', async () => {
  const { send, pass, shown, escalations, rows, history } = createLab({ minLevel: 'error' }, once);
  for (let i = 0; i < 30; i += 1) {
    await send();
    await pass(minute);
  }
  expect(escalations()).toHaveLength(1);
  await send({ level: 'success' });
  await send();
  await pass(5 * minute);
  expect(escalations()).toHaveLength(2);
  await history.acknowledge(1, shown()[0]?.id as string, { by: 'Ada', at: 0, note: null });
  for (let i = 0; i < 30; i += 1) {
    await send();
    await pass(minute);
  }
  expect(escalations()).toHaveLength(2);
  // What is over is forgotten once it is off the panels.
  await send({ level: 'success' });
  await pass(60 * minute);
  expect(rows.size).toBe(0);
});

test.each([
  ['with a key', 'k'],
  ['without one', null],
])('a notification %s says which step is next, and what it was escalated from and to', async (_, key) => {
  const [step] = once.escalate as [object];
  const { send, pass, stateOf, escalations, history } = createLab({}, { escalate: [step, step] } as RuleThen);
  const id = await send({ key });
  const rule = { id: 'r', name: expect.any(String) };
  const next = { at: 1_000_000 + 5 * minute, step: 1, steps: 2, rule, unless: 'acknowledged' };
  expect(await stateOf(id)).toEqual({ next, from: null, to: null });
  await history.acknowledge(1, id, { by: 'Ada', at: 0, note: null });
  expect((await stateOf(id)).next).toBeNull();
  await history.acknowledge(1, id, null as never);
  await pass(5 * minute);
  const [first] = escalations().map((each) => each.id) as [string];
  expect((await stateOf(id)).to).toBe(first);
  expect(await stateOf(first)).toMatchObject({
    next: { ...next, at: next.at + 5 * minute, step: 2 },
    from: id,
  });
  await pass(5 * minute);
  const [, second] = escalations().map((each) => each.id) as [string, string];
  expect(await stateOf(second)).toEqual({ next: null, from: first, to: null });
  expect((await stateOf(first)).to).toBe(second);
});

test('no step is next without its rule; one is when a repeat was not stored', async () => {
  const { send, stateOf, disableRule, history } = createLab({}, once);
  const id = await send();
  Object.assign(history, { append: () => Promise.reject(new Error('the disk is full')) });
  await expect(send()).rejects.toThrow('the disk is full');
  expect(await stateOf(id)).toMatchObject({ next: { step: 1 } });
  disableRule();
  expect(await stateOf(id)).toMatchObject({ next: null });
});

test('the silence of a sender escalates, although somebody acknowledged what came last', async () => {
  const { send, pass, shown, escalations, history } = createLab({ minLevel: 'error' }, once);
  await send({ title: 'Backup failed', expect: { everyMs: 30 * minute, level: 'error' } });
  await history.acknowledge(1, shown()[0]?.id as string, { by: 'Ada', at: 0, note: null });
  await pass(5 * minute);
  expect(escalations()).toEqual([]);
  await pass(27 * minute);
  expect(shown()).toMatchObject([{ title: 'Overdue: Backup failed', acknowledged: null }]);
  await pass(5 * minute);
  expect(escalations()).toMatchObject([{ title: 'Overdue: Backup failed' }]);
});

test('what was acknowledged escalates anew when it gets worse', async () => {
  const { send, pass, shown, escalations, history } = createLab({ minLevel: 'warning' }, once);
  await send({ level: 'warning' });
  await history.acknowledge(1, shown()[0]?.id as string, { by: 'Ada', at: 0, note: null });
  await send({ level: 'warning' });
  await pass(30 * minute);
  expect(escalations()).toEqual([]);
  await send();
  await pass(5 * minute);
  expect(escalations()).toHaveLength(1);
});

test('an escalation stays on the panels and channels of a rule that does not match it, and adds its own', async () => {
  const { send, pass, escalations } = createLab(
    { token: ['hr'], level: ['error'] },
    {
      panels: { tags: ['hr'] },
      channels: ['hr-pager'],
      escalate: [
        { afterMs: minute, setLevel: 'critical' },
        { afterMs: minute, panels: { ids: ['boss'] } },
      ],
    },
  );
  await send({ key: null });
  await pass(minute);
  await pass(minute);
  expect(escalations().map(({ level, route }) => [level, route.target, route.channels])).toEqual([
    ['critical', { all: false, ids: [], tags: ['hr'] }, ['hr-pager']],
    ['critical', { all: false, ids: ['boss'], tags: ['hr'] }, ['hr-pager']],
  ]);
});

test('a repeat keeps the level and the panels it was escalated to', async () => {
  const escalate = [{ afterMs: minute, setLevel: 'critical', panels: { ids: ['boss'] } }];
  const { send, pass, shown } = createLab({ minLevel: 'error' }, { panels: { tags: ['ops'] }, escalate });
  await send();
  await pass(minute);
  const id = await send({ message: 'again' });
  expect(shown()).toMatchObject([
    { id, level: 'critical', route: { target: { all: false, ids: ['boss'], tags: ['ops'] } } },
  ]);
  expect(shown()[0]?.sentLevel).toBe('error');
});

test('a repeat that a throttle counts leaves the escalation on its panels, and the next step comes', async () => {
  const [{ afterMs }] = once.escalate as [{ afterMs: number }];
  const { send, pass, shown, escalations } = createLab(
    { minLevel: 'error' },
    { throttle: { by: ['key'], perMs: 60 * minute }, escalate: [{ afterMs }, { afterMs }] },
  );
  for (let i = 0; i < 12; i += 1) {
    await send();
    await pass(minute);
    expect(shown()).toHaveLength(1);
  }
  expect(escalations()).toHaveLength(2);
  expect(shown()[0]?.id).toBe(escalations()[1]?.id);
});

test('without room for an expectation or escalation, it is stored, counted, said once a minute, and the sender warned', async () => {
  const { send, pass, rows, errors, refused, full, shown, intake } = createLab({ minLevel: 'error' }, once);
  for (let i = 0; i < 10_000; i += 1) rows.set(`${i}`, {} as DueTime);
  await send();
  const fields = {
    title: 't',
    message: 'm',
    level: 'info',
    ttl: 0,
    ip: null,
    host: null,
    url: null,
    key: 'e',
  };
  const expecting = { ...fields, expect: { everyMs: minute, level: 'error' } };
  const { id, warning } = await intake.acceptExpecting(sender, '192.0.2.1', expecting, null);
  expect(warning).toMatch(/is stored, but the next one is not expected: there are 1000 expectations already/);
  expect(shown()).toMatchObject([{ key: 'k' }, { id }]);
  expect(refused).toEqual(['escalation', 'expectation']);
  for (let i = 0; i < 10; i += 1) await send({ key: null });
  expect(refused).toHaveLength(12);
  expect(full).toEqual([
    'there are 10000 escalations already: end some first',
    'there are 1000 expectations already: end some first',
  ]);
  await pass(minute);
  await send({ key: null });
  expect([full.length, errors]).toEqual([3, []]);
});

test('what is not stored again neither expects the next one nor has others counted on it', async () => {
  const throttle = { by: ['key' as const], perMs: 60 * minute };
  const { send, rows, shown } = createLab({ minLevel: 'error' }, { throttle, ...once });
  expect(await send({ expect: { everyMs: minute, level: 'error' } }, 'sent')).toBe('earlier');
  expect(await send({}, 'sent')).toBe('earlier');
  expect(rows.size).toBe(0);
  const id = await send();
  expect(shown()).toMatchObject([{ id }]);
});

test('a rule that was disabled escalates no more', async () => {
  const { send, pass, escalations, rows, disableRule } = createLab({ minLevel: 'error' }, once);
  await send();
  disableRule();
  await pass(5 * minute);
  expect([escalations(), rows.size]).toEqual([[], 0]);
});
