import { expect, test } from 'vitest';
import { noTexts } from '#contract/history/fields.ts';
import type { RuleThen } from '#contract/routing/rule.ts';
import { createAttention } from '#core/alarms/alarms.ts';
import { sendSteps } from '#core/alarms/escalations.ts';
import type { Expected } from '#core/alarms/expectations.ts';
import type { DueTime } from '#core/alarms/schedule.ts';
import { Intake } from '#core/intake/intake.ts';
import type { CheckedFields } from '#core/intake/notification.ts';
import type { Sender } from '#core/intake/own-sender.ts';
import type { History, NotificationDraft } from '#core/log/log.ts';
import type { TenantId } from '#core/log/route.ts';
import { compileRules } from '#core/routing/rules.ts';
import { Throttle } from '#core/routing/throttle.ts';
import type { Tenancy } from '#core/tenants/tenancy.ts';
import { levels } from '#test/support/arbitrary-rules.ts';
import { eventually } from '#test/support/eventually.ts';
import { ruleSpecWith } from '#test/support/rule-spec.ts';
import { type HistoryDatabase, type HistoryLab, liveOn, now, readAll } from './history-lab.ts';

const minute = 60_000;
const escalate: RuleThen = { escalate: [{ afterMs: 5 * minute, setLevel: 'critical' }] };
const others = { title: 't', message: 'm', level: 'error', ttl: 0, ...noTexts };

/** Intake of one node, with the throttles of that node alone. Time passes only by `fire`. */
function newNode(
  { history: stored, dueTimes }: HistoryDatabase,
  tenant: TenantId,
  then: RuleThen,
  time: { at: number },
) {
  /** What a test does before and after a notification is stored. */
  const around = {
    before: async (_draft: NotificationDraft) => {},
    after: async (_draft: NotificationDraft) => {},
  };
  const history: History = Object.create(stored);
  history.append = async (of, draft, ...rest) => {
    await around.before(draft);
    const outcome = await stored.append(of, draft, ...rest);
    await around.after(draft);
    return outcome;
  };
  const router = compileRules(
    { revision: 1, rules: [ruleSpecWith({ id: 'r', when: { minLevel: 'warning' }, then })] },
    { levels },
  );
  const snapshot = { router, levels, record: { timeZone: 'UTC' } };
  const tenancy = { peek: () => snapshot, get: async () => snapshot } as unknown as Tenancy;
  const bus = { publish: () => undefined };
  const clock = { now: () => time.at, monotonicNow: () => time.at };
  const onError = (error: unknown): void => {
    throw error;
  };
  const options = { history, bus, tenancy, ...clock, onError };
  const attention = createAttention({
    channels: { wake: () => undefined },
    ...{ ...options, dueTimes, isShared: true },
    ...{ onRefused: () => undefined, onFull: () => undefined },
  });
  const intake = new Intake({
    ...{ ...options, expect: attention.expect, isRunning: attention.isRunning, throttle: new Throttle() },
    ...{ directory: {} as never, onStored: () => undefined },
  });
  const handlers = new Map<string, (due: DueTime) => Promise<void>>();
  attention.schedule.handle = (kind, handler) => void handlers.set(kind, handler);
  attention.handleWith(intake, { credentials: { find: async () => undefined } } as never);
  const sender = { kind: 'token', tenant, id: 'sender', name: 'sender' } as unknown as Sender;
  return {
    around,
    send: async (over: Partial<CheckedFields> = {}, retryKey?: string) =>
      (
        await intake.accept(
          sender,
          '192.0.2.1',
          { ...others, key: 'k', ...over },
          retryKey === undefined ? null : { key: retryKey },
        )
      ).id,
    /** Handles what is due after `ms`. */
    fire: async (ms: number, kind: 'escalation' | 'expectation' = 'escalation') => {
      time.at += ms;
      const context = { schedule: attention.schedule, intake, history, tenancy };
      if (kind === 'escalation') return sendSteps(context, () => false);
      for (const each of await dueTimes.list(tenant, kind, 100))
        if (each.dueAt !== null && each.dueAt <= time.at) await handlers.get(kind)?.(each);
    },
  };
}

/** What intake promises of repeats, keys, throttles, escalations and expectations holds for twenty at once, also on two nodes. */
export function intakeConformance(lab: () => HistoryLab): void {
  async function open(then: RuleThen) {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const time = { at: now };
    const first = newNode(database, tenant, then, time);
    const second = database.nodes === 1 ? first : newNode(database, tenant, then, time);
    const nodes = [first, second] as const;
    const twenty = (over: (i: number) => Partial<CheckedFields> = () => ({}), retryKey?: string) =>
      Promise.allSettled(
        Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? first : second).send(over(i), retryKey)),
      );
    const live = () => liveOn(database.history, tenant);
    const notifications = async () =>
      (await readAll(database.history, tenant)).filter(({ kind }) => kind === 'notification');
    return { ...database, tenant, nodes, twenty, live, notifications };
  }

  test('twenty repeats of an alarm at once are stored once, and it is escalated', async () => {
    const { nodes, twenty, live, notifications } = await open(escalate);
    const ids = await twenty(undefined, 'once');
    const [stored] = await live();
    expect(ids).toEqual(Array(20).fill({ status: 'fulfilled', value: stored?.id }));
    expect(await notifications()).toHaveLength(1);
    await nodes[0].fire(5 * minute);
    expect(await live()).toMatchObject([{ level: 'critical', key: 'k', route: { escalates: stored?.id } }]);
  });

  test('of twenty alarms of a key at once one stands, and it is escalated', async () => {
    const { nodes, twenty, live } = await open(escalate);
    await twenty();
    const [last, ...more] = await live();
    expect(more).toEqual([]);
    await nodes[1].fire(5 * minute);
    expect(await live()).toMatchObject([{ level: 'critical', route: { escalates: last?.id } }]);
  });

  test('twenty repeats at once of an alarm that waits for its next step do not end its escalation', async () => {
    const [step] = escalate.escalate as [NonNullable<RuleThen['escalate']>[number]];
    const { nodes, twenty, live } = await open({ escalate: [step, step] });
    await nodes[0].send();
    await nodes[0].fire(5 * minute);
    await nodes[1].fire(5 * minute - 1);
    await twenty(undefined, 'again');
    await twenty();
    const [last, ...more] = await live();
    expect([last?.level, more]).toEqual(['critical', []]);
    await nodes[0].fire(5 * minute);
    expect(await live()).toMatchObject([{ level: 'critical', route: { escalates: last?.id } }]);
  });

  const isStep = ({ tokenId }: NotificationDraft) => tokenId === 'belfry:escalation';
  type Nodes = Awaited<ReturnType<typeof open>>['nodes'];

  test.each<[string, (nodes: Nodes) => Promise<unknown>]>([
    [
      'before the step is stored',
      async ([first, second]) => {
        first.around.before = async (draft) => {
          if (isStep(draft)) await second.send({ title: 'repeat' });
        };
      },
    ],
    [
      'twice before the step is stored',
      async ([first, second]) => {
        first.around.before = async (draft) => {
          if (!isStep(draft)) return;
          await second.send({ title: 'repeat' });
          await second.send({ title: 'repeat' });
        };
      },
    ],
    [
      'after the step is stored',
      async ([first, second]) => {
        first.around.after = async (draft) => {
          if (isStep(draft)) await second.send({ title: 'repeat' });
        };
      },
    ],
    [
      'after the step that it did not know of',
      async ([first, second]) => {
        const stepStored = Promise.withResolvers<void>();
        let repeat: Promise<string> | undefined;
        first.around.before = async (draft) => {
          if (!isStep(draft) || repeat) return;
          const routed = Promise.withResolvers<void>();
          second.around.before = async ({ title }) => {
            if (title !== 'repeat') return;
            routed.resolve();
            await stepStored.promise;
          };
          repeat = second.send({ title: 'repeat' });
          await routed.promise;
        };
        first.around.after = async (draft) => {
          if (isStep(draft)) stepStored.resolve();
          if (isStep(draft)) await repeat;
        };
      },
    ],
    [
      'around the step, twenty times',
      async ([first, second]) => {
        const repeats: Promise<string>[] = [];
        const ten = (title: string) =>
          repeats.push(...Array.from({ length: 10 }, () => second.send({ title })));
        first.around.before = async (draft) => {
          if (isStep(draft) && repeats.length === 0) ten('repeat');
        };
        first.around.after = async (draft) => {
          if (!isStep(draft)) return;
          if (repeats.length === 10) ten('repeat');
          await Promise.all(repeats);
        };
      },
    ],
  ])('a repeat that is stored %s neither ends nor restarts the escalation', async (_, meanwhile) => {
    const [step] = escalate.escalate as [NonNullable<RuleThen['escalate']>[number]];
    const { nodes, live, twenty } = await open({ escalate: [step, { afterMs: 5 * minute }] });
    const [first] = nodes;
    await first.send();
    await meanwhile(nodes);
    await first.fire(5 * minute);
    for (const { around } of nodes) around.before = around.after = async () => {};
    const since = now;
    await eventually(async () => {
      await first.fire(0);
      expect(await live()).toMatchObject([{ level: 'critical', route: { escalated: { times: 1, since } } }]);
    });
    // The next step comes in its time, once.
    await first.fire(5 * minute - 1);
    expect(await live()).toMatchObject([{ level: 'critical', route: { escalated: { times: 1 } } }]);
    await first.fire(1);
    expect(await live()).toMatchObject([
      { level: 'critical', tokenId: 'belfry:escalation', route: { escalated: { times: 2, since } } },
    ]);
    await twenty();
    await first.fire(60 * minute);
    expect(await live()).toMatchObject([{ level: 'critical', route: { escalated: { times: 2, since } } }]);
  });

  test('an acknowledgement, a shelf or a clear that comes while a step is sent wins', async () => {
    for (const action of [
      { kind: 'acknowledge', by: 'Ada', note: null },
      { kind: 'shelve', by: 'Ada', note: null, until: now + 60 * minute },
      { kind: 'clear', by: 'Ada' },
    ] as const) {
      const { nodes, history, tenant, notifications } = await open({ ...escalate });
      const [first] = nodes;
      const id = await first.send();
      first.around.before = async (draft) => {
        if (isStep(draft)) await history.act(tenant, [id], { at: now + 5 * minute, ...action });
      };
      await first.fire(5 * minute);
      expect(await notifications()).toMatchObject([{ id }]);
      const record = await history.find(tenant, id);
      expect([record?.acknowledged, record?.alarm?.shelved, record?.cleared].filter(Boolean)).toMatchObject([
        { by: 'Ada' },
      ]);
    }
  });

  test.each([['k'], [null]])('two sweeps at once send a step of the key %s once', async (key) => {
    const { nodes, live, notifications } = await open({ ...escalate });
    const [first, second] = nodes;
    const id = await first.send({ key });
    await Promise.all([first.fire(5 * minute), second.fire(0), first.fire(0), second.fire(0)]);
    expect(await notifications()).toHaveLength(2);
    expect(await live()).toMatchObject([{ level: 'critical', route: { escalates: id } }]);
  });

  test('an "up" that is stored while a step is sent ends the escalation', async () => {
    const { nodes, live } = await open({ ...escalate });
    const [first, second] = nodes;
    await first.send();
    first.around.before = async (draft) => {
      if (isStep(draft)) await second.send({ title: 'up', level: 'success', ttl: 1 });
    };
    await first.fire(5 * minute);
    first.around.before = async () => {};
    await first.fire(61 * minute);
    expect(await live()).toMatchObject([{ title: 'up' }]);
  });

  test.each([
    ['goes on with', 60 * minute, [{ dueAt: now + 66_000 + 61 * minute, data: { raised: null } }]],
    ['ends', 0, []],
  ])(
    'an alarm that arrives just before "Overdue" is stored, and %s the expectation, stays on panels',
    async (_, everyMs, expected) => {
      const { nodes, live, dueTimes, tenant } = await open({ ...escalate });
      const [first, second] = nodes;
      await first.send({ title: 'well', level: 'success', expect: { everyMs: minute, level: 'error' } });
      first.around.before = async () => {
        first.around.before = async () => {};
        await second.send({
          title: 'alarm',
          host: 'db-1',
          ttl: 60 * minute,
          expect: { everyMs, level: 'error' },
        });
      };
      await first.fire(minute + 6_000, 'expectation');
      expect(await live()).toMatchObject([
        { title: 'alarm', host: 'db-1', ttl: 60 * minute, tokenId: 'sender' },
      ]);
      expect(await dueTimes.list(tenant, 'expectation', 10)).toMatchObject(expected);
      await nodes[1].fire(0);
      expect(await live()).toHaveLength(1);
      await first.fire(5 * minute);
      expect(await live()).toMatchObject([{ title: 'alarm', level: 'critical' }]);
    },
  );

  test('the end of work that came to a node which did not know of its beginning is seen in time', async () => {
    const { nodes, live, dueTimes, tenant } = await open(escalate);
    const [first, second] = nodes;
    const daily = { everyMs: 1_440 * minute, level: 'warning' };
    await second.send({ key: 'other' });
    await first.fire(1, 'expectation');
    await first.send({ title: 'begun', level: 'info', ttl: 1, expect: { ...daily, isStart: true } });
    await second.send({ title: 'done', level: 'success' });
    await first.send({ title: 'begun', key: 'other', expect: { isStart: true, level: 'error' } });
    await second.send({ title: 'of a similar key', key: 'Other' });
    await first.fire(61 * minute, 'expectation');
    const titles = async () => (await live()).map(({ title }) => title).sort();
    expect(await titles()).toEqual(['Did not end: begun', 'done', 'of a similar key']);
    const [expected] = await dueTimes.list(tenant, 'expectation', 10);
    expect(expected).toMatchObject({ subject: 'k', dueAt: now + 1_441 * minute + 1, data: daily });
    await first.fire(1_380 * minute, 'expectation');
    expect(await titles()).toEqual([
      'Did not end: begun',
      expect.stringContaining('Overdue: '),
      'of a similar key',
    ]);
  });

  test('twenty alarms without a key at once are escalated each', async () => {
    const { nodes, twenty, live } = await open(escalate);
    await twenty(() => ({ key: null }));
    await nodes[0].fire(5 * minute);
    expect((await live()).map(({ level }) => level)).toEqual(Array(20).fill('critical'));
  });

  test('of twenty contents at once under one retry key one is stored, escalated and expected again', async () => {
    const { nodes, live, dueTimes, tenant } = await open(escalate);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) =>
        nodes[0].send({ title: `t${i}`, expect: { everyMs: (i + 1) * minute, level: 'error' } }, 'once'),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const [stored] = await live();
    const [expected] = await dueTimes.list(tenant, 'expectation', 10);
    expect((expected?.data as Expected | undefined)?.everyMs).toBe(
      (Number(stored?.title.replace('t', '')) + 1) * minute,
    );
    await nodes[0].fire(5 * minute);
    expect(await live()).toMatchObject([{ level: 'critical', title: stored?.title }]);
  });

  test('of twenty alike at once a throttle shows one, and one is escalated', async () => {
    const throttle = { by: ['key' as const], perMs: 60 * minute };
    const { nodes, twenty, live, notifications } = await open({ ...escalate, throttle });
    const ids = await twenty();
    expect(new Set(ids.map((each) => each.status === 'fulfilled' && each.value)).size).toBe(20);
    expect(await notifications()).toHaveLength(20);
    expect(await live()).toHaveLength(1);
    await nodes[0].fire(5 * minute);
    expect(await live()).toMatchObject([{ level: 'critical' }]);
  });
}
