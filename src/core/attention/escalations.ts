/** What happens when nobody takes a notification in time: rules say so by `then.escalate`. */
import type { EscalationStep } from '#contract/rule.ts';
import { AppError } from '../errors.ts';
import type { Intake } from '../intake.ts';
import type { CheckedFields } from '../notification.ts';
import { ownSenderId } from '../own-sender.ts';
import type { Bus, Entry, History, HistoryRecord, NotificationDraft, Ref, TenantId } from '../ports.ts';
import type { Escalation } from '../routing/router.ts';
import { targetNamed } from '../routing/router.ts';
import type { DueTime } from './due-times.ts';
import { durationText } from './expectations.ts';
import type { Schedule } from './schedule.ts';

interface Escalating {
  /** The notification that is on panels now: the first one, its newest repeat, or the last step's. */
  readonly id: string;
  /** What `id` was to replace; it still counts when `id` was not stored. */
  readonly replaced?: string;
  /** Which step is next. */
  readonly step: number;
  readonly steps: readonly EscalationStep[];
  readonly rule: Ref;
  /** Somebody acknowledged an earlier notification of the key, which has been on panels since. */
  readonly isAcknowledged: boolean;
}

export interface EscalationContext {
  readonly schedule: Schedule;
  readonly intake: Pick<Intake, 'raise' | 'findEarlier'>;
  readonly history: Pick<History, 'find' | 'clear' | 'acknowledge'>;
  readonly bus: Pick<Bus, 'publish'>;
  readonly now: () => number;
}

const kind = 'escalation';

/**
 * Remembers that a notification is to be escalated, before it is stored. Without room for one more, that is reported and the
 * notification is stored all the same. One that replaces a notification of its key goes on
 * with that one's time: a sender that repeats an alarm does not put its escalation off.
 */
export async function escalateLater(
  {
    schedule,
    history,
    now,
    onError,
  }: Pick<EscalationContext, 'schedule' | 'history' | 'now'> & {
    readonly onError: (error: unknown) => void;
  },
  tenant: TenantId,
  draft: Pick<NotificationDraft, 'id' | 'key'>,
  { rule, steps }: Escalation,
): Promise<void> {
  const { id, key } = draft;
  const subject = { tenant, kind, subject: key === null ? `id ${id}` : `key ${key}` } as const;
  const earlier = key === null ? undefined : await schedule.dueTimes.find(subject);
  if (earlier) {
    const data = earlier.data as Escalating;
    const replaced = await findCurrent(history, tenant, data);
    if (replaced && isLive(replaced, now())) {
      const isAcknowledged = data.isAcknowledged || replaced.acknowledged !== null;
      const next = { dueAt: earlier.dueAt, data: { ...data, id, replaced: replaced.id, isAcknowledged } };
      if (await schedule.dueTimes.settle(earlier, next)) return;
    }
  }
  const data: Escalating = { id, step: 0, steps, rule, isAcknowledged: false };
  try {
    await schedule.put(subject, (steps[0] as EscalationStep).afterMs, data);
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'conflict')) throw error;
    onError(error);
  }
}

/** Sends the next step, unless somebody took the notification or it is no longer on panels. */
export async function escalate(context: EscalationContext, due: DueTime): Promise<void> {
  const { schedule, intake, history, now } = context;
  const { tenant, version } = due;
  const data = due.data as Escalating;
  const step = data.steps[data.step];
  const record = await findCurrent(history, tenant, data);
  if (!step || !record) return void (await schedule.dueTimes.settle(due, undefined));
  const fields = fieldsOf(record, step);
  const retryKey = { key: `belfry:${kind}:${version}` };
  let id = await intake.findEarlier(tenant, fields, retryKey);
  if (id === undefined) {
    if (!isLive(record, now())) return void (await schedule.dueTimes.settle(due, undefined));
    if (isTaken(record, data, step)) return await lookAgain(schedule, due, step);
    const target = step.panels === undefined ? undefined : targetNamed([step.panels]);
    id = await intake.raise(tenant, { by: kind, fields, retryKey, target });
  }
  await carryOver(context, { tenant, from: record, to: id });
  const next = data.steps[data.step + 1];
  const dueAt = next && (await schedule.now()) + next.afterMs;
  const isCurrent = await schedule.dueTimes.settle(
    due,
    next && dueAt !== undefined ? { dueAt, data: { ...data, id, step: data.step + 1 } } : undefined,
  );
  if (isCurrent) schedule.wakeAt(dueAt ?? null);
}

/** One with a key stays taken while it, or what replaces it, is on panels. */
async function lookAgain(schedule: Schedule, due: DueTime, { afterMs }: EscalationStep): Promise<void> {
  if (due.subject.startsWith('id ')) return void (await schedule.dueTimes.settle(due, undefined));
  const dueAt = (await schedule.now()) + afterMs;
  if (await schedule.dueTimes.settle(due, { dueAt, data: due.data })) schedule.wakeAt(dueAt);
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
  if (unless === 'shown' && receipts.shown > 0) return true;
  return acknowledged !== null || data.isAcknowledged;
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

/** What somebody did to the notification in the moment of its escalation holds for the escalation. One without a key is taken off. */
async function carryOver(
  { history, bus, now }: EscalationContext,
  { tenant, from, to }: { readonly tenant: TenantId; readonly from: HistoryRecord; readonly to: string },
): Promise<void> {
  const publish = (entry: Entry) => bus.publish(tenant, [entry]);
  const clear = async (id: string, by: string) => {
    const outcome = await history.clear(tenant, id, by, now());
    if (outcome.kind === 'cleared') publish(outcome.entry);
  };
  if (from.key === null) await clear(from.id, ownSenderId(kind));
  const latest = await history.find(tenant, from.id);
  if (latest?.acknowledged) {
    const outcome = await history.acknowledge(tenant, to, latest.acknowledged);
    if (outcome.kind === 'acknowledged') publish(outcome.entry);
  }
  const isOthers = latest?.cleared?.reason === 'cleared' && latest.cleared.by !== ownSenderId(kind);
  if (isOthers) await clear(to, latest.cleared.by);
}
