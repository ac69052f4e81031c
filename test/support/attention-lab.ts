import { noTexts } from '#contract/history/fields.ts';
import type { RuleThen, RuleWhen } from '#contract/routing/rule.ts';
import { createAttention } from '#core/alarms/alarms.ts';
import { escalationOf, sendSteps } from '#core/alarms/escalations.ts';
import type { DueTime, DueTimes, NewDueTime } from '#core/alarms/schedule.ts';
import { Intake } from '#core/intake/intake.ts';
import type { CheckedFields } from '#core/intake/notification.ts';
import type { Sender } from '#core/intake/own-sender.ts';
import type { AlarmAction, HistoryRecord } from '#core/log/log.ts';
import { replay } from '#core/routing/replay.ts';
import { compileRules } from '#core/routing/rules.ts';
import { Throttle } from '#core/routing/throttle.ts';
import { matcherOf } from '#core/search/search-evaluate.ts';
import type { Tenancy } from '#core/tenants/tenancy.ts';
import { levels } from './arbitrary-rules.ts';
import { openMemoryHistory } from './memory-history.ts';
import { ruleSpecWith } from './rule-spec.ts';

export const sender = { kind: 'token', tenant: 1, id: 'hr', name: 'hr' } as unknown as Sender;

/** Escalations, expectations and intake, with log and due times in memory; time passes only by `pass`. The tenant is 1. */
export function createAttentionLab(when: RuleWhen, then: RuleThen) {
  let at = 1_000_000;
  const { history, log } = openMemoryHistory();
  const shown = () => log().filter(({ cleared, throttledOn }) => cleared === null && throttledOn === null);
  const { append, findRepeat } = history;
  const earlier = { kind: 'repeated', id: 'earlier' } as const;
  // What is sent with this retry key was stored before.
  history.findRepeat = async (tenant, retry, now) =>
    retry.key === 'sent' ? earlier : findRepeat(tenant, retry, now);
  history.append = async (tenant, draft, retry, terms) =>
    retry?.key === 'sent' ? earlier : append(tenant, draft, retry, terms);
  history.search = async (_, query) => {
    const matches = matcherOf(query, at);
    return {
      records: log()
        .filter((each) => matches(each as never))
        .reverse(),
    } as never;
  };
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
    list: async () => [...rows.values()],
    remove: async ({ subject }: DueTime) => {
      const removed = rows.get(subject);
      rows.delete(subject);
      return removed;
    },
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
  let refused = 0;
  const onRefused = () => {
    refused += 1;
  };
  const full: string[] = [];
  const onFull = (_tenant: number, reason: string) => void full.push(reason);
  const compile = (enabled: boolean) =>
    compileRules({ revision: 1, rules: [ruleSpecWith({ id: 'r', enabled, when, then })] }, { levels });
  let router = compile(true);
  const disableRule = () => {
    router = compile(false);
  };
  const peek = () => ({ router, levels, record: { timeZone: 'UTC' } });
  const tenancy = { peek, get: async () => peek() } as unknown as Tenancy;
  const attention = createAttention({
    dueTimes,
    history,
    bus,
    channels: { wake: () => undefined },
    tenancy,
    ...clock,
    isShared: false,
    onError,
    onRefused,
    onFull,
  });
  const intake = new Intake({
    ...{
      history,
      bus,
      throttle: new Throttle(),
      expect: attention.expect,
      isRunning: attention.isRunning,
      now: clock.now,
      onError,
    },
    ...{ tenancy, directory: {} as never, onStored: () => undefined },
  });
  const handlers = new Map<string, (due: DueTime) => Promise<void>>();
  attention.schedule.handle = (kind, handler) => void handlers.set(kind, handler);
  const credentials = { find: async () => undefined };
  attention.handleWith(intake, { credentials } as never);
  const send = async (over: Partial<CheckedFields> = {}, retryKey: string | null = null) => {
    const fields = { title: 't', message: 'm', level: 'error', ttl: 0, ...noTexts };
    const key = retryKey === null ? null : { key: retryKey };
    return (await intake.accept(sender, '192.0.2.1', { ...fields, key: 'k', ...over }, key)).id;
  };
  const pass = async (ms: number) => {
    at += ms;
    for (const due of [...rows.values()])
      if (due.dueAt !== null && due.dueAt <= at) await handlers.get(due.kind)?.(due);
    await sendSteps({ schedule: attention.schedule, intake, history, tenancy }, () => false);
  };
  const act = (id: string, action: object) =>
    history.act(1, [id], { at, by: 'Ada', note: null, ...action } as AlarmAction);
  const escalations = () => log().filter(({ tokenId }) => tokenId === 'belfry:escalation');
  const panels = ['hr', 'ops'].map((tag) => ({ id: tag, name: tag, tags: [tag] }));
  const replayed = (by = router) => replay(log(), by, panels);
  const ofExpectation = { id: 'e', when: { token: ['belfry:expectation'] }, then: { mute: true } };
  const mutesOverdue = compileRules(
    { revision: 2, rules: [ruleSpecWith(ofExpectation), ruleSpecWith({ id: 'r', when, then })] },
    { levels },
  );
  const stateOf = async (id: string) =>
    escalationOf({ history, now: clock.now, tenancy }, 1, (await history.find(1, id)) as HistoryRecord);
  return {
    stateOf,
    send,
    pass,
    shown,
    escalations,
    rows,
    errors,
    act,
    refused: () => refused,
    full,
    intake,
    history,
    disableRule,
    replayed,
    mutesOverdue,
  };
}
