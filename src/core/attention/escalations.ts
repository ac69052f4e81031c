/** What happens when nobody takes a notification in time: rules say so by `then.escalate`. */
import type { EscalationStep } from '#contract/rule.ts';
import type { Intake } from '../intake.ts';
import type { CheckedFields } from '../notification.ts';
import { ownSenderId } from '../own-sender.ts';
import type { Bus, History, HistoryRecord, NotificationDraft, Ref, TenantId } from '../ports.ts';
import type { Escalation } from '../routing/router.ts';
import { targetNamed } from '../routing/router.ts';
import { noPanel, unite } from '../target.ts';
import type { Tenancy } from '../tenancy.ts';
import type { DueTime } from './due-times.ts';
import { durationText } from './expectations.ts';
import type { Schedule } from './schedule.ts';

interface Escalating {
  /** The notification that is on panels now: the first one, its newest repeat, or the last step's. */
  readonly id: string;
  /** What `id` was to replace; it still counts when `id` was not stored. */
  readonly replaced?: string;
  /** Which step is next; after the last one, their number. */
  readonly step: number;
  readonly steps: readonly EscalationStep[];
  readonly rule: Ref;
  /** A panel has shown an earlier notification of the key, which has been on panels since. */
  readonly isShown?: boolean;
}

export interface EscalationContext {
  readonly schedule: Schedule;
  readonly intake: Pick<Intake, 'raise' | 'findRaised'>;
  readonly history: Pick<History, 'find' | 'clear' | 'acknowledge'>;
  readonly bus: Pick<Bus, 'publish'>;
  readonly tenancy: Pick<Tenancy, 'get'>;
  readonly now: () => number;
}

const kind = 'escalation';
/** So often it is looked whether one that is over has left the panels. */
const restMs = 3_600_000;

type Memory = Pick<EscalationContext, 'schedule' | 'history' | 'now'>;

/**
 * Remembers that a notification is to be escalated, before it is stored. One that replaces a notification of its key goes on
 * with that one's time and steps: a sender that repeats an alarm neither puts its escalation off nor begins it anew.
 *
 * @returns the notification it replaces, if that is an escalation, or replaced one.
 * @throws AppError `conflict` when there is no room for one more.
 */
export async function escalateLater(
  { schedule, history, now }: Memory,
  {
    tenant,
    draft: { id, key, rank, route },
    escalation: { rule, steps },
  }: {
    readonly tenant: TenantId;
    readonly draft: Pick<NotificationDraft, 'id' | 'key' | 'rank' | 'route'>;
    readonly escalation: Escalation;
  },
): Promise<HistoryRecord | undefined> {
  const subject = { tenant, kind, subject: key === null ? `id ${id}` : `key ${key}` } as const;
  for (;;) {
    const earlier = key === null ? undefined : await schedule.dueTimes.find(subject);
    const data = earlier?.data as Escalating | undefined;
    const replaced = data && (await findCurrent(history, tenant, data));
    if (!earlier || !data || !replaced || !isLive(replaced, now())) break;
    // A higher level is for somebody to acknowledge anew, and so is the silence of a sender.
    const isNews = rank > replaced.rank || route.origin !== undefined;
    if (replaced.acknowledged !== null && isNews) break;
    const isShown = data.isShown === true || replaced.receipts.shown > 0;
    const next = { ...data, id, replaced: replaced.id, isShown };
    const isCurrent = await schedule.dueTimes.settle(earlier, { dueAt: earlier.dueAt, data: next });
    // A step is being sent: the notification is to replace that.
    if (!isCurrent) continue;
    return data.step > 0 ? replaced : undefined;
  }
  const data: Escalating = { id, step: 0, steps, rule };
  await schedule.put(subject, (steps[0] as EscalationStep).afterMs, data);
  return undefined;
}

export async function findEscalating(
  { schedule, history, now }: Memory,
  tenant: TenantId,
  key: string,
): Promise<HistoryRecord | undefined> {
  const due = await schedule.dueTimes.find({ tenant, kind, subject: `key ${key}` });
  const record = due && (await findCurrent(history, tenant, due.data as Escalating));
  return record && isLive(record, now()) ? record : undefined;
}

/** What waits for a notification, and what became of it, or it came from, by escalating. */
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
  { schedule, history, now, tenancy }: Memory & Pick<EscalationContext, 'tenancy'>,
  tenant: TenantId,
  record: HistoryRecord,
): Promise<EscalationState> {
  const due = await schedule.dueTimes.find({
    tenant,
    kind,
    subject: await subjectOf(history, tenant, record),
  });
  const data = due?.data as Escalating | undefined;
  const { id, cleared, route } = record;
  // What was to replace it may not have been stored; if it was, this one is not live.
  const isCurrent = (data?.id === id || data?.replaced === id) && isLive(record, now());
  const step = isCurrent ? data?.steps[data.step] : undefined;
  const isNext = data && step && !isTaken(record, data, step) && (await hasRule(tenancy, tenant, data));
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
  { rule }: Escalating,
): Promise<boolean> {
  const { router } = await tenancy.get(tenant);
  return router.rules.some(({ ref, spec }) => ref.id === rule.id && spec.enabled);
}

/** Without a key, what waits is named by the first notification of all. */
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

/** Sends the next step, unless somebody took the notification, it is no longer on panels, or its rule is gone. */
export async function escalate(context: EscalationContext, due: DueTime): Promise<void> {
  const { schedule, intake, history, now } = context;
  const { tenant, version } = due;
  const data = due.data as Escalating;
  const step = data.steps[data.step];
  const record = await findCurrent(history, tenant, data);
  if (!record) return void (await schedule.dueTimes.settle(due, undefined));
  const retryKey = { key: `belfry:${kind}:${version}` };
  const fields = step && fieldsOf(record, step);
  let id = fields && (await intake.findRaised(tenant, retryKey));
  if (id === undefined) {
    if (!isLive(record, now()) || !(await hasRule(context.tenancy, tenant, data)))
      return void (await schedule.dueTimes.settle(due, undefined));
    if (!fields || isTaken(record, data, step)) return void (await settleFor(schedule, due, data));
    const named = step.panels === undefined ? noPanel : targetNamed([step.panels]);
    const to = {
      channels: record.route.channels ?? [],
      target: unite(record.route.target, named),
      escalates: record.id,
    };
    id = await intake.raise(tenant, { by: kind, fields, retryKey, to });
  }
  const isOver = await carryOver(context, { tenant, from: record, to: id });
  const { afterMs } = data.steps[data.step + 1] ?? {};
  const isCurrent = await settleFor(schedule, due, { ...data, id, step: data.step + 1 }, afterMs);
  if (isCurrent && isOver) await clear(context, { tenant, id, by: ownSenderId(kind) });
}

/**
 * Without a time, nothing more is to come: then one with a key is remembered for as long as it, or what replaces it, is on
 * panels, so that a repeat does not begin anew.
 */
async function settleFor(
  schedule: Schedule,
  due: DueTime,
  data: Escalating,
  afterMs?: number,
): Promise<boolean> {
  if (afterMs === undefined && due.subject.startsWith('id ')) return schedule.dueTimes.settle(due, undefined);
  const dueAt = (await schedule.now()) + (afterMs ?? restMs);
  const isCurrent = await schedule.dueTimes.settle(due, { dueAt, data });
  if (isCurrent) schedule.wakeAt(dueAt);
  return isCurrent;
}

async function findCurrent(
  history: Pick<History, 'find'>,
  tenant: TenantId,
  { id, replaced }: Escalating,
): Promise<HistoryRecord | undefined> {
  return (
    (await history.find(tenant, id)) ?? (replaced === undefined ? undefined : history.find(tenant, replaced))
  );
}

function isLive({ cleared, expiresAt }: HistoryRecord, now: number): boolean {
  return cleared === null && (expiresAt === null || expiresAt > now);
}

function isTaken({ acknowledged, receipts }: HistoryRecord, data: Escalating, { unless }: EscalationStep) {
  return acknowledged !== null || (unless === 'shown' && (data.isShown === true || receipts.shown > 0));
}

/** The same for each call, so that a step that is tried again is stored once. */
function fieldsOf(record: HistoryRecord, { afterMs, unless, setLevel }: EscalationStep): CheckedFields {
  const { title, message, level, ip, host, key, url } = record;
  const done = unless === 'shown' ? 'No panel showed this' : 'Nobody acknowledged this';
  return {
    title,
    message: [...`${done} within ${durationText(afterMs)}.\n${message}`].slice(0, 16_384).join(''),
    level: setLevel ?? level,
    ttl: 0,
    ...{ ip, host, key, url },
  };
}

/**
 * What somebody did to the notification in the moment of its escalation holds for the escalation. One without a key is replaced here.
 *
 * @returns whether something else, as an "up", had taken its place already.
 */
async function carryOver(
  context: EscalationContext,
  { tenant, from, to }: { readonly tenant: TenantId; readonly from: HistoryRecord; readonly to: string },
): Promise<boolean> {
  const { history, bus } = context;
  if (from.key === null) await clear(context, { tenant, id: from.id, by: { id: to } });
  const latest = await history.find(tenant, from.id);
  if (latest?.acknowledged) {
    const outcome = await history.acknowledge(tenant, to, latest.acknowledged);
    if (outcome.kind === 'acknowledged') bus.publish(tenant, [outcome.entry]);
  }
  const { reason, by } = latest?.cleared ?? {};
  if (reason === 'cleared' && by !== undefined) await clear(context, { tenant, id: to, by });
  return reason === 'replaced' && by !== to;
}

async function clear(
  { history, bus, now }: Pick<EscalationContext, 'history' | 'bus' | 'now'>,
  {
    tenant,
    id,
    by,
  }: { readonly tenant: TenantId; readonly id: string; readonly by: string | { readonly id: string } },
): Promise<void> {
  const outcome = await history.clear(tenant, id, by, now());
  if (outcome.kind === 'cleared') bus.publish(tenant, [outcome.entry]);
}
