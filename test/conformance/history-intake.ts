import { expect, test } from 'vitest';
import type { RuleThen } from '#contract/routing/rule.ts';
import { createAttention } from '#core/attention/attention.ts';
import type { DueTime } from '#core/attention/due-times.ts';
import type { Expected } from '#core/attention/expectations.ts';
import { Intake } from '#core/intake/intake.ts';
import type { CheckedFields } from '#core/intake/notification.ts';
import type { Sender } from '#core/intake/own-sender.ts';
import type { TenantId } from '#core/ports.ts';
import { compileRules } from '#core/routing/compile-rules.ts';
import { Throttle } from '#core/routing/throttle.ts';
import type { Tenancy } from '#core/tenants/tenancy.ts';
import { levels } from '#test/support/arbitrary-rules.ts';
import { ruleSpecWith } from '#test/support/rule-spec.ts';
import { type HistoryDatabase, type HistoryLab, liveOn, now, readAll } from './history-lab.ts';

const minute = 60_000;
const escalate: RuleThen = { escalate: [{ afterMs: 5 * minute, setLevel: 'critical' }] };
const others = { title: 't', message: 'm', level: 'error', ttl: 0, ip: null, host: null, url: null };

/** Intake of one node, with the throttles of that node alone. Time passes only by `fire`. */
function newNode({ history, dueTimes }: HistoryDatabase, tenant: TenantId, then: RuleThen) {
  let at = now;
  const router = compileRules({ revision: 1, rules: [ruleSpecWith({ id: 'r', then })] }, { levels });
  const snapshot = { router, levels };
  const tenancy = { peek: () => snapshot, get: async () => snapshot } as unknown as Tenancy;
  const bus = { publish: () => undefined };
  const clock = { now: () => at, monotonicNow: () => at };
  const onError = (error: unknown) => {
    throw error;
  };
  const options = { history, bus, tenancy, ...clock, onError };
  const attention = createAttention({
    ...{ ...options, dueTimes, isShared: true },
    ...{ onRefused: () => undefined, onFull: () => undefined },
  });
  const intake = new Intake({
    ...{ ...options, attention: attention.forIntake, throttle: new Throttle() },
    ...{ directory: {} as never, onStored: () => undefined },
  });
  const handlers = new Map<string, (due: DueTime) => Promise<void>>();
  attention.schedule.handle = (kind, handler) => void handlers.set(kind, handler);
  attention.handleWith(intake, { credentials: { find: async () => undefined } } as never);
  const sender = { kind: 'token', tenant, id: 'sender', name: 'sender' } as unknown as Sender;
  return {
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
    fire: async (ms: number) => {
      at += ms;
      const due = await dueTimes.list(tenant, 'escalation', 100);
      for (const each of due)
        if (each.dueAt !== null && each.dueAt <= at) await handlers.get(each.kind)?.(each);
    },
  };
}

/** What intake promises of repeats, keys, throttles, escalations and expectations holds for twenty at once, also on two nodes. */
export function intakeConformance(lab: () => HistoryLab): void {
  async function open(then: RuleThen) {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const first = newNode(database, tenant, then);
    const second = database.nodes === 1 ? first : newNode(database, tenant, then);
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
