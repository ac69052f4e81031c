/** Dead-man's switches: what is raised when the next notification of a key does not come in time. */
import { notFound } from '../errors.ts';
import type { Intake } from '../intake.ts';
import type { CheckedFields } from '../notification.ts';
import type { Sender } from '../own-sender.ts';
import type { Bus, History, TenantId } from '../ports.ts';
import type { DueTime } from './due-times.ts';
import type { Schedule } from './schedule.ts';

export interface Expected {
  readonly everyMs: number;
  readonly level: string;
  readonly title: string;
  readonly host: string | null;
  readonly token: { readonly id: string; readonly name: string };
  /** When the last one came; Unix milliseconds. */
  readonly lastAt: number;
  /** The notification that tells that the next one has not come; null while there is time. */
  readonly raised: string | null;
}

export interface ExpectationContext {
  readonly schedule: Schedule;
  readonly intake: Pick<Intake, 'raise'>;
  readonly history: Pick<History, 'clear'>;
  readonly bus: Pick<Bus, 'publish'>;
  readonly now: () => number;
}

const kind = 'expectation';

/** A sender's clock and the way to here are not exact. */
export const graceOf = (everyMs: number): number =>
  Math.min(60_000, Math.max(1_000, Math.round(everyMs / 10)));

/** Begins the time until the next notification of the key anew, or ends it. Without a key or an expectation, does nothing. */
export async function expectNext(
  schedule: Schedule,
  { tenant, id, name }: Sender,
  { key, title, host, expect }: CheckedFields,
): Promise<void> {
  if (key === null || !expect) return;
  const subject = { tenant, kind, subject: key } as const;
  const { everyMs, level } = expect;
  if (everyMs === 0) return void (await schedule.dueTimes.remove(subject));
  const lastAt = await schedule.now();
  const data: Expected = { everyMs, level, title, host, token: { id, name }, lastAt, raised: null };
  await schedule.put(subject, everyMs + graceOf(everyMs), data);
}

/** Raises a notification with the same key, which the next one of that key replaces. */
export async function raiseMissing(
  { schedule, intake, history, bus, now }: ExpectationContext,
  due: DueTime,
): Promise<void> {
  const { tenant, subject: key, version } = due;
  const data = due.data as Expected;
  const { everyMs, level, title, host, lastAt } = data;
  const fields: CheckedFields = {
    title: `Overdue: ${title}`.slice(0, 250).toWellFormed(),
    message: `No notification with the key "${key}" since ${new Date(lastAt).toISOString()}; one is expected every ${durationText(everyMs)}.`,
    level,
    ttl: 0,
    ip: null,
    host,
    key,
    url: null,
  };
  const retryKey = { key: `belfry:${kind}:${version}` };
  const id = await intake.raise(tenant, { by: kind, fields, retryKey });
  const isCurrent = await schedule.dueTimes.settle(due, { dueAt: null, data: { ...data, raised: id } });
  if (isCurrent) return;
  // It came, or was ended, in this moment; or another node raised the same.
  const latest = await schedule.dueTimes.find(due);
  if ((latest?.data as Expected | undefined)?.raised === id) return;
  await takeOff({ history, bus, now }, tenant, id);
}

/** Ends an expectation; what it raised leaves the panels. @throws AppError `not-found`. */
export async function endExpectation(
  context: Omit<ExpectationContext, 'intake'>,
  tenant: TenantId,
  key: string,
): Promise<void> {
  const due = await context.schedule.dueTimes.remove({ tenant, kind, subject: key });
  if (!due) throw notFound('expectation');
  const { raised } = due.data as Expected;
  if (raised !== null) await takeOff(context, tenant, raised);
}

async function takeOff(
  { history, bus, now }: Pick<ExpectationContext, 'history' | 'bus' | 'now'>,
  tenant: TenantId,
  id: string,
): Promise<void> {
  const outcome = await history.clear(tenant, id, `belfry:${kind}`, now());
  if (outcome.kind === 'cleared') bus.publish(tenant, [outcome.entry]);
}

/** 90 s, 5 min, 2 h. */
export function durationText(ms: number): string {
  for (const [unitMs, unit] of [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
  ] as const)
    if (ms >= unitMs && ms % unitMs === 0) return `${ms / unitMs} ${unit}`;
  return `${ms / 1_000} s`;
}
