/** Expectations (dead man's switches): raises a notification when the next one of a key does not arrive in time. */

import { type OptionalTexts, optionalTextsOf, searchForm } from '#contract/history/fields.ts';
import { durationText } from '#contract/time.ts';
import { notFound } from '../errors.ts';
import type { Intake } from '../intake/intake.ts';
import { type CheckedFields, type Expectation, fieldsOfStored } from '../intake/notification.ts';
import { ownSenderId, type Sender } from '../intake/own-sender.ts';
import type { History, HistoryRecord } from '../log/log.ts';
import type { TenantId } from '../log/route.ts';
import { isEscalation, type TakeOffContext, takeOff, takeOffStanding } from '../log/take-off.ts';
import { literalPattern } from '../search/search-words.ts';
import type { Directory } from '../tenants/directory.ts';
import type { Tenancy } from '../tenants/tenancy.ts';
import { nextCronTime } from '../time/cron.ts';
import { iso } from '../time/time.ts';
import type { RunningKeys } from './running-keys.ts';
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
  /** What was expected before work began, and is again once it has ended. */
  readonly after?: Expectation;
  /** The notification that reports the missing one; null before that. */
  readonly raised: string | null;
}

export interface ExpectationContext extends TakeOffContext {
  readonly schedule: Schedule;
  readonly intake: Pick<Intake, 'raise'>;
  readonly history: TakeOffContext['history'] & Pick<History, 'search'>;
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

interface NextContext {
  readonly schedule: Schedule;
  readonly tenancy: Pick<Tenancy, 'get'>;
  readonly running: Pick<RunningKeys, 'forget'>;
}

/**
 * Restarts or ends the expectation of a key. A notification that has none of the fields for it only ends work that began. Does
 * nothing without a key.
 */
export async function expectNext(
  { schedule, tenancy, running }: NextContext,
  {
    sender: { tenant, id, name },
    sourceIp,
    fields,
  }: { readonly sender: Sender; readonly sourceIp: string; readonly fields: CheckedFields },
): Promise<void> {
  const { key, title } = fields;
  if (key === null) return;
  const subject = { tenant, kind, subject: key } as const;
  const isAlone = !fields.expect || isStartAlone(fields.expect);
  const known = isAlone ? ((await schedule.dueTimes.find(subject))?.data as Expected | undefined) : undefined;
  if (!fields.expect && !known?.isStart) return;
  const repeating = known && repeatingOf(known);
  const expect = fields.expect ?? repeating;
  if (!expect || expect.everyMs === 0) {
    await schedule.dueTimes.remove(subject);
    return running.forget(tenant);
  }
  const timeZone = expect.timeZone ?? (await zoneOf(expect, () => tenancy.get(tenant)));
  const lastAt = await schedule.now();
  const token = { id, name };
  const data: Expected = {
    ...{ ...optionalTextsOf(fields), ...expect, title, sourceIp, token, lastAt },
    ...(timeZone !== undefined && { timeZone }),
    ...(isStartAlone(expect) && repeating && { after: repeating }),
    raised: null,
  };
  await schedule.put(subject, overdueAt(data) - lastAt, data);
  running.forget(tenant);
}

const isStartAlone = ({ isStart, everyMs, cron }: Expectation) =>
  isStart === true && everyMs === undefined && cron === undefined;

/** What is expected of the key once the work has ended; undefined: nothing. */
function repeatingOf(expected: Expected): Expectation | undefined {
  if (expected.after) return expected.after;
  const { everyMs, cron, timeZone, graceMs, level } = expected;
  if (everyMs === undefined && cron === undefined) return undefined;
  return {
    ...(everyMs !== undefined && { everyMs }),
    ...(cron !== undefined && { cron }),
    ...(timeZone !== undefined && { timeZone }),
    ...(graceMs !== undefined && { graceMs }),
    level,
  };
}

/** Times of cron are meant in the time zone of the tenant, and people read in it when work began. */
const zoneOf = async ({ cron, isStart }: Expectation, tenant: () => ReturnType<Tenancy['get']>) =>
  cron === undefined && !isStart ? undefined : (await tenant())?.record.timeZone;

/**
 * Raises a notification with the same key, which the next one of that key replaces. Rules match it by the fields of the missing
 * one: the token, even if revoked, host and addresses.
 */
export async function raiseMissing(
  { schedule, intake, history, bus, channels, credentials, now }: ExpectationContext,
  due: DueTime,
): Promise<void> {
  const { tenant, version } = due;
  const data = due.data as Expected;
  // Due times are shifted when the clock is set, but those of cron stay on the wall clock.
  const earlyMs = data.cron === undefined || data.isStart ? 0 : overdueAt(data) - now();
  if (earlyMs > 0) return void (await schedule.putOff(due, earlyMs, data));
  const end = data.isStart ? await findEnd(history, due, data) : undefined;
  if (end) return settleEnded(schedule, due, end.receivedAt);
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
  // The end of the work may have come to another node since.
  const lateEnd = data.isStart ? await findEnd(history, due, data) : undefined;
  if (lateEnd) await settleEnded(schedule, due, lateEnd.receivedAt);
  else if (await schedule.dueTimes.settle(due, { dueAt: null, data: { ...data, raised: id } })) return;
  // It arrived or was ended in the meantime, or another node raised the same.
  const latest = (await schedule.dueTimes.find(due))?.data as Expected | undefined;
  if (latest?.raised === id) return;
  const record = replaced === undefined ? undefined : await history.find(tenant, replaced);
  const hasArrived =
    record && (lateEnd ? record.id === lateEnd.id : record.receivedAt >= (latest?.lastAt ?? 0));
  // If it was stored before "Overdue", which has replaced it, it is sent again.
  if (hasArrived && (await history.find(tenant, id))?.cleared === null)
    await intake.raise(tenant, {
      by: kind,
      fields: fieldsOfStored(record, { level: record.sentLevel, ttl: record.sentTtl }),
      retryKey: { key: `belfry:${kind}:${version}:replaced` },
      inPlaceOf: { token: { id: record.tokenId, name: record.tokenName }, sourceIp: record.sourceIp },
    });
  await takeOff({ history, bus, channels, now }, tenant, id, ownSenderId(kind));
}

/** How many notifications of the key are read to find the end of work. */
const mostRead = 20;

/**
 * The newest notification of the key since work began, other than the one that said so. There is one if the end came to another
 * node before that knew of the beginning: otherwise the end has changed the expectation.
 */
async function findEnd(
  history: Pick<History, 'search'>,
  { tenant, subject }: DueTime,
  { lastAt }: Expected,
): Promise<HistoryRecord | undefined> {
  const patterns = [searchForm('key', literalPattern(subject))];
  const terms = [
    { kind: 'key', patterns },
    { kind: 'after', at: lastAt },
  ] as const;
  const options = { limit: mostRead, now: lastAt };
  const { records } = await history.search(tenant, { kind: 'and', terms }, options);
  const sent = records.filter(
    ({ key, tokenId, route }) =>
      key === subject && route.origin === undefined && tokenId !== ownSenderId('escalation'),
  );
  return sent.length > 1 ? sent[0] : undefined;
}

/** The work has ended `at`: from then on the key expects what it did before, or nothing. */
async function settleEnded(schedule: Schedule, due: DueTime, at: number): Promise<void> {
  const { isStart: _isStart, after: _after, graceMs: _graceMs, ...data } = due.data as Expected;
  const repeating = repeatingOf(due.data as Expected);
  if (!repeating) return void (await schedule.dueTimes.settle(due, undefined));
  const next: Expected = { ...data, ...repeating, lastAt: at };
  await schedule.putOff(due, Math.max(0, overdueAt(next) - (await schedule.now())), next);
}

const missingFields = (key: string, expected: Expected): CheckedFields => ({
  ...optionalTextsOf(expected),
  key,
  title: `${expected.isStart ? 'Did not end' : 'Overdue'}: ${expected.title}`.slice(0, 250).toWellFormed(),
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
    return `It began at ${wallTime(lastAt)} and did not end within ${late}: no other notification with the key "${key}" has come.`;
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
