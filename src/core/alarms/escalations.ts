/**
 * Escalations: sends a notification again when nobody acknowledges it in time, as `then.escalate` of a rule defines. An
 * escalation begins before its notification is stored, with a due time whose subject is the key of the notification, or its id
 * if it has no key. A repeat of the key continues the escalation of the one that it replaces and neither delays nor restarts it;
 * it keeps the level and the panels of the last step. A higher level, or a missing notification, after an acknowledgement begins
 * a new one. At its time a step checks what is on panels now: it ends without a step if the notification was cleared or expired,
 * or its rule is deleted or disabled. If the notification was acknowledged (or shown, for a step `unless: shown`), no further
 * step is sent. Otherwise the step is raised as a notification of its own, which replaces the last one, with the level and the
 * panels of the step added, and without a ttl. An acknowledgement or a clear that came while the step was being stored is
 * carried over to it. After the last step, the due time of a key stays for as long as its notification is on panels, checked
 * once an hour, so that a repeat does not restart it. May be relied on: each step is stored once, also when a node ends in the
 * middle, because its retry key is the version of the due time.
 */
import type { EscalationStep } from '#contract/routing/rule.ts';
import { timeOfId } from '../intake/idempotency.ts';
import type { Intake } from '../intake/intake.ts';
import { fieldsOfStored } from '../intake/notification.ts';
import { ownSenderId } from '../intake/own-sender.ts';
import type { Bus, Escalated, History, HistoryRecord, NotificationDraft, Ref, TenantId } from '../log/log.ts';
import { takeOff } from '../log/take-off.ts';
import { noPanel, unite } from '../log/target.ts';
import type { Escalation } from '../routing/router.ts';
import { targetNamed } from '../routing/router.ts';
import type { Tenancy } from '../tenants/tenancy.ts';
import type { DueTime, Schedule } from './schedule.ts';

interface EscalationData {
  /** The newest notification of this alarm: the first one, a repeat, or the last step's. It may not be stored yet. */
  readonly id: string;
  /** Others of this alarm: those that may be on panels, and those that are being stored at the same time. */
  readonly replaced?: readonly string[];
  /** Index of the next step; equal to the number of steps after the last one. */
  readonly step: number;
  readonly steps: readonly EscalationStep[];
  readonly rule: Ref;
  /** When the first notification of this alarm was received. */
  readonly since: number;
  /** A panel has shown an earlier notification of this alarm. */
  readonly isShown?: boolean;
  /** Its next step is due if the alarm is open again. */
  readonly isHandled?: true;
}

export interface EscalationContext {
  readonly schedule: Schedule;
  readonly intake: Pick<Intake, 'raise' | 'findRaised'>;
  readonly history: Pick<History, 'find' | 'findLive' | 'clear' | 'acknowledge'>;
  readonly bus: Pick<Bus, 'publish'>;
  readonly tenancy: Pick<Tenancy, 'get'>;
  readonly now: () => number;
}

const kind = 'escalation';
/** How often it is checked whether a finished escalation has left the panels. */
const checkFinishedMs = 3_600_000;

/** A notification that is not stored after this time was refused. */
const storingMs = 60_000;
/** The most of them that are remembered, the newest first: the last one that is stored is the one on panels. */
const maxStoring = 50;
/** How soon a step is tried again whose notification is still being stored. */
const storingAgainMs = 1_000;

type EscalationStores = Pick<EscalationContext, 'schedule' | 'history' | 'now'>;

/**
 * Schedules the escalation of a notification, before it is stored. If it replaces an earlier notification of its key, that one's
 * escalation continues: a repeated alarm neither delays nor restarts it.
 *
 * @returns the notification it replaces, if a step was already sent.
 * @throws AppError `conflict` when there is no room for one more.
 */
export async function escalateLater(
  { schedule, history, now }: EscalationStores,
  {
    tenant,
    draft: { id, receivedAt: since, key, rank, route },
    escalation: { rule, steps },
  }: {
    readonly tenant: TenantId;
    readonly draft: Pick<NotificationDraft, 'id' | 'receivedAt' | 'key' | 'rank' | 'route'>;
    readonly escalation: Escalation;
  },
): Promise<HistoryRecord | undefined> {
  const subject = { tenant, kind, subject: key === null ? `id ${id}` : `key ${key}` } as const;
  const { afterMs } = steps[0] as EscalationStep;
  for (;;) {
    const earlier = key === null ? undefined : await schedule.dueTimes.find(subject);
    if (!earlier) {
      if (await schedule.add(subject, afterMs, { id, since, step: 0, steps, rule })) return undefined;
      continue;
    }
    const data = earlier.data as EscalationData;
    const { current, live, storing } = await findAlarm({ history, now }, tenant, data);
    const isAttended = current && (current.acknowledged !== null || current.alarm?.shelved != null);
    // A higher level, or a missing notification, must be acknowledged again, and ends a shelf.
    const needsNewAcknowledgement = current && (rank > current.rank || route.origin !== undefined);
    const continues = current
      ? live.length > 0 && (!isAttended || !needsNewAcknowledgement)
      : storing.length > 0;
    if (!continues) {
      const anew = { id, since, replaced: storing, step: 0, steps, rule };
      if (await schedule.putOff(earlier, afterMs, anew)) return undefined;
      continue;
    }
    const isShown = data.isShown === true || (current?.receipts.shown ?? 0) > 0;
    const next = { ...data, id, replaced: [...live, ...storing], isShown };
    // If it is not settled, a step or a repeat has changed it in the meantime.
    if (await schedule.dueTimes.settle(earlier, { dueAt: earlier.dueAt, data: next }))
      return current && isEscalated(current) ? current : undefined;
  }
}

/** Sends a step again, at once: a repeat that was routed before it was sent has replaced it on panels. */
export async function escalateAgain(
  schedule: Schedule,
  {
    tenant,
    key,
    replaced: { times, since },
  }: { readonly tenant: TenantId; readonly key: string; readonly replaced: Escalated },
): Promise<void> {
  for (;;) {
    const due = await schedule.dueTimes.find({ tenant, kind, subject: `key ${key}` });
    const data = due?.data as EscalationData | undefined;
    if (!due || !data || data.step > times) return;
    if (data.since !== since) return;
    if (await schedule.putOff(due, 0, { ...data, step: times - 1 })) return;
  }
}

/** An alarm is open again: its next step is decided now, if it has one. */
export async function continueEscalation(
  {
    schedule,
    history,
  }: { readonly schedule: Pick<Schedule, 'dueTimes' | 'putOff'>; readonly history: Pick<History, 'find'> },
  tenant: TenantId,
  id: string,
): Promise<void> {
  const record = await history.find(tenant, id);
  if (!record) return;
  const subject = { tenant, kind, subject: await subjectOf(history, tenant, record) } as const;
  for (;;) {
    const due = await schedule.dueTimes.find(subject);
    const data = due?.data as EscalationData | undefined;
    if (!due || !data?.isHandled) return;
    const { isHandled: _, ...open } = data;
    if (await schedule.putOff(due, 0, open)) return;
  }
}

export async function findEscalating(
  { schedule, history, now }: EscalationStores,
  tenant: TenantId,
  key: string,
): Promise<HistoryRecord | undefined> {
  const due = await schedule.dueTimes.find({ tenant, kind, subject: `key ${key}` });
  const alarm = due && (await findAlarm({ history, now }, tenant, due.data as EscalationData));
  return alarm && alarm.live.length > 0 ? alarm.current : undefined;
}

/** The escalation of a notification: its next step, and its predecessor and successor. */
export interface EscalationState {
  readonly next: {
    readonly at: number;
    readonly step: number;
    readonly steps: number;
    readonly rule: Ref;
    readonly unless: NonNullable<EscalationStep['unless']>;
  } | null;
  readonly from: string | null;
  readonly to: string | null;
}

export async function escalationOf(
  { schedule, history, now, tenancy }: EscalationStores & Pick<EscalationContext, 'tenancy'>,
  tenant: TenantId,
  record: HistoryRecord,
): Promise<EscalationState> {
  const due = await schedule.dueTimes.find({
    tenant,
    kind,
    subject: await subjectOf(history, tenant, record),
  });
  const data = due?.data as EscalationData | undefined;
  const { id, cleared, route } = record;
  // The one that replaces it may not have been stored; if it was, this one is not live.
  const isCurrent = data !== undefined && idsOf(data).includes(id) && isLive(record, now());
  const step = isCurrent ? data?.steps[data.step] : undefined;
  const isNext = data && step && !isHandled(record, data, step) && (await hasRule(tenancy, tenant, data));
  const next =
    isNext && due && due.dueAt !== null
      ? {
          ...{ at: due.dueAt, step: data.step + 1, steps: data.steps.length, rule: data.rule },
          unless: step.unless ?? 'acknowledged',
        }
      : null;
  const by = cleared?.reason === 'replaced' ? await history.find(tenant, cleared.by) : undefined;
  const to = by?.route.escalates === id ? by.id : null;
  return { next, from: route.escalates ?? null, to };
}

async function hasRule(
  tenancy: EscalationContext['tenancy'],
  tenant: TenantId,
  { rule }: EscalationData,
): Promise<boolean> {
  const { router } = await tenancy.get(tenant);
  return router.rules.some(({ ref, spec }) => ref.id === rule.id && spec.enabled);
}

/** Without a key, the subject is the first notification of the chain. */
async function subjectOf(
  history: Pick<History, 'find'>,
  tenant: TenantId,
  { id, key, route }: HistoryRecord,
): Promise<string> {
  if (key !== null) return `key ${key}`;
  let first = id;
  let before = route.escalates;
  while (before !== undefined) {
    first = before;
    before = (await history.find(tenant, first))?.route.escalates;
  }
  return `id ${first}`;
}

/** Sends the next step, unless the notification was acknowledged, is no longer on panels, or its rule is gone. */
export async function escalate(context: EscalationContext, due: DueTime): Promise<void> {
  const { schedule, intake, now } = context;
  const { tenant, version } = due;
  const data = due.data as EscalationData;
  const step = data.steps[data.step];
  const { current: record, live, storing } = await findAlarm(context, tenant, data);
  if (storing.length > 0 && live.length === 0) return void (await schedule.putOff(due, storingAgainMs, data));
  if (!record) return void (await schedule.dueTimes.settle(due, undefined));
  const times = record.route.escalated?.times ?? 0;
  const replaced = [...live, ...storing];
  // A node has sent it and ended, or a repeat has changed the due time in between.
  if (times > data.step && live.length > 0)
    return void (await settleAt(schedule, due, { ...data, id: record.id, replaced, step: times }));
  // A repeat has replaced the last step, and `escalateAgain` has failed.
  if (!step && live.length > 0 && !isEscalated(record) && record.acknowledged === null)
    return void (await schedule.putOff(due, 0, { ...data, step: data.step - 1 }));
  const retryKey = { key: `belfry:${kind}:${version}` };
  // Deterministic, so that a step that is retried is stored once.
  const fields = step && fieldsOfStored(record, { level: step.setLevel ?? record.level, ttl: 0 });
  let id = fields && (await intake.findRaised(tenant, retryKey));
  if (id === undefined) {
    if (!isLive(record, now()) || !(await hasRule(context.tenancy, tenant, data)))
      return void (await schedule.dueTimes.settle(due, undefined));
    if (!fields) return void (await settleFor(schedule, due, data));
    // It may be open again, so it is kept while it stands.
    if (isHandled(record, data, step)) {
      await schedule.putOff(due, checkFinishedMs, { ...data, isHandled: true });
      const latest = await context.history.find(tenant, record.id);
      // It was opened again in between.
      if (latest && !isHandled(latest, data, step)) await continueEscalation(context, tenant, record.id);
      return;
    }
    const named = step.panels === undefined ? noPanel : targetNamed([step.panels]);
    const to = {
      channels: record.route.channels ?? [],
      target: unite(record.route.target, named),
      ...(record.route.group && { group: record.route.group }),
      escalates: record.id,
      escalated: {
        ...{ times: data.step + 1, since: data.since },
        ...(step?.unless === 'shown' && { unless: step.unless }),
        rules: [
          ...new Set([
            ...record.route.rules.map(({ id: rule }) => rule),
            ...(record.route.escalated?.rules ?? []),
          ]),
        ],
      },
    };
    id = await intake.raise(tenant, { by: kind, fields, retryKey, to });
  }
  await settleSent(context, due, { from: record, to: id });
}

/** Schedules the step after the one that was sent as `to`, whatever repeats have changed in the meantime. */
async function settleSent(
  context: EscalationContext,
  due: DueTime,
  { from, to }: { readonly from: HistoryRecord; readonly to: string },
): Promise<void> {
  const { schedule } = context;
  const { tenant } = due;
  const { since, step } = due.data as EscalationData;
  for (;;) {
    const latest = await schedule.dueTimes.find(due);
    const data = latest?.data as EscalationData | undefined;
    // Another alarm of the key, or another node has settled it.
    if (!latest || !data || data.since !== since || data.step !== step) return;
    const isReplaced = await carryOver(context, { tenant, from, to, ids: idsOf(data) });
    const { current, live, storing } = await findAlarm(context, tenant, data);
    // A repeat that was routed before the step has replaced it: the step is sent again.
    const isOvertaken = current && current.id !== from.id && !isEscalated(current) && live.length > 0;
    const replaced = [...live, ...storing];
    const isSettled = isOvertaken
      ? await schedule.putOff(latest, 0, data)
      : await settleAt(schedule, latest, { ...data, id: to, replaced, step: step + 1 });
    if (!isSettled) continue;
    if (isReplaced) await takeOff(context, tenant, to, ownSenderId(kind));
    return;
  }
}

const settleAt = (schedule: Schedule, due: DueTime, data: EscalationData): Promise<boolean> =>
  settleFor(schedule, due, data, data.steps[data.step]?.afterMs);

/**
 * Schedules the next step `afterMs` from now. Without a time there is none; an escalation with a key is then kept while it is on
 * panels, so that a repeat does not restart it.
 */
async function settleFor(
  schedule: Schedule,
  due: DueTime,
  data: EscalationData,
  afterMs?: number,
): Promise<boolean> {
  if (afterMs === undefined && due.subject.startsWith('id ')) return schedule.dueTimes.settle(due, undefined);
  return schedule.putOff(due, afterMs ?? checkFinishedMs, data);
}

const isEscalated = ({ route }: HistoryRecord): boolean =>
  route.escalates !== undefined || route.repeats !== undefined;

const idsOf = ({ id, replaced = [] }: EscalationData): readonly string[] => [id, ...replaced];

/**
 * `current`: the one that is on panels, or was the last one there. `live`: all that were on panels when they were read, the newest
 * first. `storing`: those that may still be stored. As each is read by itself, one may replace another in between: both are in
 * `live` then, and both must be remembered, as only the first one says what has replaced it.
 */
async function findAlarm(
  { history, now }: Pick<EscalationContext, 'now'> & { readonly history: Pick<History, 'find'> },
  tenant: TenantId,
  data: EscalationData,
): Promise<{
  readonly current: HistoryRecord | undefined;
  readonly live: readonly string[];
  readonly storing: readonly string[];
}> {
  const ids = idsOf(data);
  // Read once: one that is stored in the meantime still counts as being stored.
  const records = await Promise.all(ids.map((id) => history.find(tenant, id)));
  const isSame = ({ id, route }: HistoryRecord) => ids.includes(id) || route.escalates !== undefined;
  const isYoung = (id: string) => Math.abs(now() - timeOfId(id)) < storingMs;
  const found = records.filter((record) => record !== undefined);
  const newest = await Promise.all(found.map((record) => newestOf(history, tenant, record, isSame)));
  newest.sort((a, b) => b.position - a.position);
  const live = newest.filter((record) => isLive(record, now()));
  return {
    current: live[0] ?? newest[0],
    live: [...new Set(live.map(({ id }) => id))],
    storing: ids.filter((id, i) => records[i] === undefined && isYoung(id)).slice(0, maxStoring),
  };
}

/** What has replaced a notification, as long as it is of the same alarm. */
async function newestOf(
  history: Pick<History, 'find'>,
  tenant: TenantId,
  record: HistoryRecord,
  isSame: (replacement: HistoryRecord) => boolean,
): Promise<HistoryRecord> {
  let newest = record;
  for (;;) {
    const { reason, by } = newest.cleared ?? {};
    const next = reason === 'replaced' && by !== undefined ? await history.find(tenant, by) : undefined;
    if (!next || !isSame(next)) return newest;
    newest = next;
  }
}

function isLive({ cleared, expiresAt }: HistoryRecord, now: number): boolean {
  return cleared === null && (expiresAt === null || expiresAt > now);
}

function isHandled(
  { acknowledged, receipts, alarm }: HistoryRecord,
  data: EscalationData,
  { unless }: EscalationStep,
) {
  const isAttended = acknowledged !== null || alarm?.shelved != null;
  return isAttended || (unless === 'shown' && (data.isShown === true || receipts.shown > 0));
}

/**
 * Applies an acknowledgement or clear of `from` to `to`, if it happened during the escalation. A notification without a key is
 * cleared here.
 *
 * @returns whether another notification, such as an "up", has already replaced it.
 */
async function carryOver(
  context: EscalationContext,
  {
    tenant,
    from,
    to,
    ids,
  }: {
    readonly tenant: TenantId;
    readonly from: HistoryRecord;
    readonly to: string;
    readonly ids: readonly string[];
  },
): Promise<boolean> {
  const { history, bus } = context;
  if (from.key === null) await takeOff(context, tenant, from.id, { id: to });
  const found = await history.find(tenant, from.id);
  // A repeat that was stored before `to` does not end the alarm.
  const isRepeat = ({ id }: HistoryRecord) => id !== to && ids.includes(id);
  const latest = found && (await newestOf(history, tenant, found, isRepeat));
  if (latest?.acknowledged) {
    const outcome = await history.acknowledge(tenant, to, latest.acknowledged);
    if (outcome.kind === 'acknowledged') bus.publish(tenant, [outcome.entry]);
  }
  const { reason, by } = latest?.cleared ?? {};
  if (reason === 'cleared' && by !== undefined) await takeOff(context, tenant, to, by);
  return reason === 'replaced' && by !== to;
}
