/**
 * Escalations: sends a notification again when nobody acknowledges it in time, as `then.escalate` of a rule defines. The state is
 * part of the alarm in the log and is written with each notification (`AlarmEscalation`): a repeat of the key continues the escalation
 * and neither delays nor restarts it, and keeps the level and the panels of the last step. A higher level, or a missing
 * notification, after an acknowledgement begins a new one. A sweep sends the steps that are due. A step is a notification of its
 * own, which replaces the one that stands, with the level and the panels of the step added, and without a ttl. The transaction
 * that stores it also moves the alarm to the next step, and stores nothing unless the alarm is still open and the step is due
 * next. So each step is stored once, on whichever node. An alarm that is acknowledged or shelved has no due step; once it is open
 * again, its next step keeps its time. The escalation ends when the notification is cleared or expires, when its rule is deleted
 * or disabled, and when a notification without an escalation replaces it. If a panel has shown it, a step `unless: shown` and
 * those after it are not sent.
 */
import type { EscalationStep } from '#contract/routing/rule.ts';
import { AppError } from '../errors.ts';
import type { Intake } from '../intake/intake.ts';
import { fieldsOfStored } from '../intake/notification.ts';
import type { AlarmEscalation, DueStep, History, HistoryRecord } from '../log/log.ts';
import type { Ref, TenantId } from '../log/route.ts';
import { noPanel, unite } from '../log/target.ts';
import { targetNamed } from '../routing/router.ts';
import type { Tenancy } from '../tenants/tenancy.ts';
import type { Schedule } from './schedule.ts';

interface EscalationContext {
  /** Its clock, by which due steps are shifted if the clock is set. */
  readonly schedule: Pick<Schedule, 'now'>;
  readonly intake: Pick<Intake, 'raise'>;
  readonly history: Pick<History, 'find' | 'dueSteps' | 'settleStep'>;
  readonly tenancy: Pick<Tenancy, 'get'>;
}

/** Steps that are sent together, and how often that is done before other tasks have their turn. */
const stepsAtOnce = 100;
const rounds = 100;
/** How soon a step is tried again that could not be sent, so that others come before it. */
const retryMs = 5_000;

/** Sends the steps that are due. On several nodes each of them may call it. @throws the error of a step that was not sent. */
export async function sendSteps(context: EscalationContext, stopped: () => boolean): Promise<void> {
  const { schedule, history } = context;
  for (let round = 0; round < rounds; round++) {
    const at = await schedule.now();
    const due = await history.dueSteps(at, stepsAtOnce);
    const sent = await Promise.allSettled(due.map((step) => sendStep(context, step)));
    for (const [i, { status }] of sent.entries())
      if (status === 'rejected') await history.settleStep(due[i] as DueStep, at + retryMs);
    for (const outcome of sent) if (outcome.status === 'rejected') throw outcome.reason;
    if (due.length < stepsAtOnce || stopped()) return;
  }
}

async function sendStep({ history, intake, tenancy }: EscalationContext, due: DueStep): Promise<void> {
  const { tenant, id } = due;
  const record = await history.find(tenant, id);
  const escalation = record?.alarm?.escalation;
  const step = escalation?.steps[due.step];
  if (!record || !step || escalation.step !== due.step) return;
  if (!(await hasRule(tenancy, tenant, escalation))) return history.settleStep(due, undefined);
  if (isShownBefore(record, step)) return history.settleStep(due, null);
  const { channels = [], target, group, suppress, acknowledgeForMs } = record.route;
  const to = {
    channels,
    target: unite(target, step.panels === undefined ? noPanel : targetNamed([step.panels])),
    ...(group && { group }),
    ...(suppress && { suppress }),
    ...(acknowledgeForMs !== undefined && { acknowledgeForMs }),
    escalates: id,
    escalated: {
      ...{ times: due.step + 1, since: record.alarm?.since ?? record.receivedAt },
      ...(step.unless === 'shown' && { unless: step.unless }),
      rules: [
        ...new Set([
          ...record.route.rules.map(({ id: rule }) => rule),
          ...(record.route.escalated?.rules ?? []),
        ]),
      ],
    },
  };
  const fields = fieldsOfStored(record, { level: step.setLevel ?? record.level, ttl: 0 });
  try {
    await intake.raise(tenant, { by: 'escalation', fields, to });
  } catch (error) {
    // It was acknowledged, ended or repeated in the meantime, or another node has sent it.
    if (!(error instanceof AppError && error.code === 'conflict')) throw error;
  }
}

const isShownBefore = ({ receipts }: HistoryRecord, { unless }: EscalationStep): boolean =>
  unless === 'shown' && receipts.shown > 0;

async function hasRule(
  tenancy: Pick<Tenancy, 'get'>,
  tenant: TenantId,
  { rule }: AlarmEscalation,
): Promise<boolean> {
  const { router } = await tenancy.get(tenant);
  return router.hasEnabled(rule.id);
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
  {
    history,
    tenancy,
    now,
  }: Pick<EscalationContext, 'tenancy'> & {
    readonly history: Pick<History, 'find'>;
    readonly now: () => number;
  },
  tenant: TenantId,
  record: HistoryRecord,
): Promise<EscalationState> {
  const { id, cleared, route, alarm, expiresAt } = record;
  const escalation = expiresAt === null || expiresAt > now() ? alarm?.escalation : undefined;
  const step = escalation?.steps[escalation.step];
  const isNext = step && !isShownBefore(record, step) && (await hasRule(tenancy, tenant, escalation));
  const next =
    isNext && escalation.nextAt !== null
      ? {
          ...{ at: escalation.nextAt, step: escalation.step + 1, steps: escalation.steps.length },
          ...{ rule: escalation.rule, unless: step.unless ?? 'acknowledged' },
        }
      : null;
  const by = cleared?.reason === 'replaced' ? await history.find(tenant, cleared.by) : undefined;
  const to = by?.route.escalates === id ? by.id : null;
  return { next, from: route.escalates ?? null, to };
}
