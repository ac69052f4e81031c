/** Expectations (dead man's switches): raises a notification when the next one of a key does not arrive in time. */

import { type OptionalTexts, optionalTextsOf } from '#contract/history/fields.ts';
import { durationText } from '#contract/time.ts';
import { notFound } from '../errors.ts';
import type { Intake } from '../intake/intake.ts';
import { type CheckedFields, type Expectation, fieldsOfStored } from '../intake/notification.ts';
import { ownSenderId, type Sender } from '../intake/own-sender.ts';
import type { TenantId } from '../log/route.ts';
import { isEscalation, type TakeOffContext, takeOff, takeOffStanding } from '../log/take-off.ts';
import type { Directory } from '../tenants/directory.ts';
import type { Tenancy } from '../tenants/tenancy.ts';
import { nextCronTime } from '../time/cron.ts';
import { iso } from '../time/time.ts';
import type { DueTime, Schedule } from './schedule.ts';

/** The texts of the notification that came last, with which the one that reports it is sent. */
export interface Expected extends Partial<OptionalTexts>, Omit<Expectation, 'level'> {
  readonly level: string;
  readonly title: string;
  readonly host: string | null;
  readonly sourceIp?: string;
  readonly token: { readonly id: string; readonly name: string };
  /** When the last one arrived; Unix milliseconds. */
  readonly lastAt: number;
  /** The notification that reports the missing one; null before that. */
  readonly raised: string | null;
}

export interface ExpectationContext extends TakeOffContext {
  readonly schedule: Schedule;
  readonly intake: Pick<Intake, 'raise'>;
  readonly credentials: Pick<Directory['credentials'], 'find'>;
}

const kind = 'expectation';

/** The time that work usually takes: an expected notification reports its end. */
const usualGraceMs = 3_600_000;

/** Of an interval, it only allows for clock differences and delays on the way. */
export const graceOf = ({ everyMs, graceMs, isStart }: Expected): number =>
  graceMs ??
  (everyMs === undefined || isStart
    ? usualGraceMs
    : Math.min(60_000, Math.max(1_000, Math.round(everyMs / 10))));

/** When the next notification is due, without the grace. */
function nextAt({ everyMs, cron, timeZone = 'UTC', isStart, lastAt }: Expected): number {
  if (isStart) return lastAt;
  if (cron === undefined) return lastAt + (everyMs ?? 0);
  const next = nextCronTime(cron, timeZone, lastAt);
  if (next === undefined) throw new Error(`no time of ${cron} comes after ${iso(lastAt)}`);
  return next;
}

export const overdueAt = (expected: Expected): number => nextAt(expected) + graceOf(expected);

/** Restarts or ends the expectation of a key. Does nothing without a key or an expectation. */
export async function expectNext(
  { schedule, tenancy }: { readonly schedule: Schedule; readonly tenancy: Pick<Tenancy, 'get'> },
  {
    sender: { tenant, id, name },
    sourceIp,
    fields,
  }: { readonly sender: Sender; readonly sourceIp: string; readonly fields: CheckedFields },
): Promise<void> {
  const { key, title, expect } = fields;
  if (key === null || !expect) return;
  const subject = { tenant, kind, subject: key } as const;
  if (expect.everyMs === 0) return void (await schedule.dueTimes.remove(subject));
  const timeZone = expect.timeZone ?? (expect.cron && (await tenancy.get(tenant))?.record.timeZone);
  const lastAt = await schedule.now();
  const token = { id, name };
  const data: Expected = {
    ...{ ...optionalTextsOf(fields), ...expect, title, sourceIp, token, lastAt },
    ...(timeZone !== undefined && { timeZone }),
    raised: null,
  };
  await schedule.put(subject, overdueAt(data) - lastAt, data);
}

/**
 * Raises a notification with the same key, which the next one of that key replaces. Rules match it by the fields of the missing
 * one: the token, even if revoked, host and addresses.
 */
export async function raiseMissing(
  { schedule, intake, history, bus, credentials, now }: ExpectationContext,
  due: DueTime,
): Promise<void> {
  const { tenant, version } = due;
  const data = due.data as Expected;
  // Due times are shifted when the clock is set, but those of cron stay on the wall clock.
  const earlyMs = data.cron === undefined || data.isStart ? 0 : overdueAt(data) - now();
  if (earlyMs > 0) return void (await schedule.putOff(due, earlyMs, data));
  const { sourceIp = '127.0.0.1' } = data;
  const known = await credentials.find(data.token.id);
  const token = known?.tenant === tenant ? { id: known.id, name: known.name } : data.token;
  let replaced: string | undefined;
  const id = await intake.raise(tenant, {
    by: kind,
    fields: missingFields(due.subject, data),
    retryKey: { key: `belfry:${kind}:${version}` },
    inPlaceOf: { token, sourceIp },
    onReplaced: (of) => {
      replaced = of;
    },
  });
  const isCurrent = await schedule.dueTimes.settle(due, { dueAt: null, data: { ...data, raised: id } });
  if (isCurrent) return;
  // It arrived or was ended in the meantime, or another node raised the same.
  const latest = (await schedule.dueTimes.find(due))?.data as Expected | undefined;
  if (latest?.raised === id) return;
  const record = replaced === undefined ? undefined : await history.find(tenant, replaced);
  const hasArrived = record && record.receivedAt >= (latest?.lastAt ?? 0);
  // If it was stored before "Overdue", which has replaced it, it is sent again.
  if (hasArrived && (await history.find(tenant, id))?.cleared === null)
    await intake.raise(tenant, {
      by: kind,
      fields: fieldsOfStored(record, { level: record.sentLevel, ttl: record.sentTtl }),
      retryKey: { key: `belfry:${kind}:${version}:replaced` },
      inPlaceOf: { token: { id: record.tokenId, name: record.tokenName }, sourceIp: record.sourceIp },
    });
  await takeOff({ history, bus, now }, tenant, id, ownSenderId(kind));
}

const missingFields = (key: string, expected: Expected): CheckedFields => ({
  ...optionalTextsOf(expected),
  key,
  title: `Overdue: ${expected.title}`.slice(0, 250).toWellFormed(),
  message: missingText(key, expected),
  level: expected.level,
  ttl: 0,
});

function missingText(key: string, expected: Expected): string {
  const { cron, timeZone = 'UTC', everyMs = 0, isStart, lastAt } = expected;
  const late = durationText(graceOf(expected));
  const wallTime = (at: number) =>
    `${new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(at)} (${timeZone})`;
  if (isStart)
    return `The notification with the key "${key}" said that work began at ${wallTime(lastAt)}. Its end did not come within ${late}.`;
  if (cron === undefined)
    return `No notification with the key "${key}" for more than ${durationText(everyMs)}, the expected interval.`;
  return `No notification with the key "${key}" within ${late} of ${wallTime(nextAt(expected))}, when one was expected (${cron}).`;
}

/** Ends an expectation, and clears the notification that it raised. @throws AppError `not-found`. */
export async function endExpectation(
  context: Omit<ExpectationContext, 'intake' | 'credentials'>,
  tenant: TenantId,
  key: string,
): Promise<void> {
  const due = await context.schedule.dueTimes.remove({ tenant, kind, subject: key });
  if (!due) throw notFound('expectation');
  const { raised } = due.data as Expected;
  if (raised !== null) await takeOffStanding(context, tenant, raised, ownSenderId(kind), isEscalation);
}
