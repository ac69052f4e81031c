/**
 * Raises an alarm before a time at which nobody is on call, and when a calendar cannot be read for long. It ends when somebody
 * fills the time, or when the calendar can be read again.
 */
import { noTexts } from '#contract/history/fields.ts';
import { durationText } from '#contract/time.ts';
import type { Intake } from '../intake/intake.ts';
import type { CheckedFields } from '../intake/notification.ts';
import { ownSenderId } from '../intake/own-sender.ts';
import type { TenantId } from '../log/route.ts';
import { isEscalation, type TakeOffContext, takeOffStanding } from '../log/take-off.ts';
import { publicError } from '../on-call/calendar.ts';
import { findGap, OnCallPlan, type OnCallRecord } from '../on-call/on-call.ts';
import type { Directory } from '../tenants/directory.ts';
import { wallText } from '../time/time.ts';
import type { DueTime, Schedule } from './schedule.ts';

interface Watched {
  /** The notification that reports the problem; null while there is none. */
  readonly raised: string | null;
  /** What it reports: another problem raises another one. */
  readonly problem: string | null;
}

export interface OnCallContext extends TakeOffContext {
  readonly schedule: Schedule;
  readonly intake: Pick<Intake, 'raise' | 'findRaised'>;
  readonly onCall: Pick<Directory['onCall'], 'find'>;
}

const kind = 'on-call';
/** So long a calendar may fail without an alarm. */
const failingMs = 3_600_000;
/** How often a schedule is checked. Changes are checked at once. */
const everyMs = 600_000;
const none: Watched = { raised: null, problem: null };

/** Call it after each change of a schedule, of its calendar, or its deletion. */
export async function watchOnCall(schedule: Schedule, tenant: TenantId, id: string): Promise<void> {
  const subject = { tenant, kind, subject: id } as const;
  for (;;) {
    const watched = await schedule.dueTimes.find(subject);
    if (!watched) return schedule.put(subject, 0, none);
    if (await schedule.putOff(watched, 0, watched.data)) return;
    // A check in progress settled it in the meantime.
  }
}

export async function lookAtOnCall(context: OnCallContext, due: DueTime): Promise<void> {
  const { schedule, intake, onCall, now } = context;
  const { tenant, subject: id, version } = due;
  const { raised, problem } = due.data as Watched;
  const record = await onCall.find(tenant, id);
  if (!record) {
    if (raised !== null) await takeOffStanding(context, tenant, raised, ownSenderId(kind), isEscalation);
    return void (await schedule.dueTimes.settle(due, undefined));
  }
  const found = problemOf(record, now());
  if (found?.id === (problem ?? undefined)) return void (await schedule.putOff(due, everyMs, due.data));
  const retryKey = { key: `belfry:${kind}:${version}` };
  const fields = found ? fieldsOf(record, found) : fixedFields(record);
  const sent =
    (await intake.findRaised(tenant, retryKey)) ??
    (await intake.raise(tenant, { by: kind, fields, retryKey }));
  await schedule.putOff(due, everyMs, found ? { raised: sent, problem: found.id } : none);
}

interface Problem {
  readonly id: string;
  readonly title: string;
  readonly sentences: readonly string[];
}

function problemOf(record: OnCallRecord, now: number): Problem | undefined {
  const { name, alertBeforeMs, reading } = record;
  if (record.calendar && reading.copy === null && reading.failingSince === null) return undefined;
  const gap = alertBeforeMs > 0 ? findGap(new OnCallPlan(record), now, alertBeforeMs) : undefined;
  const isFailing = reading.failingSince !== null && reading.failingSince <= now - failingMs;
  if (!gap && !isFailing) return undefined;
  const sentences = [
    ...(gap ? [gapText(gap, record, now)] : []),
    ...(reading.failingSince === null ? [] : [calendarText(record, isFailing)]),
  ];
  return {
    id: `${gap ? `${gap.until} ` : ''}${isFailing ? 'calendar' : ''}`,
    title: gap ? `Nobody is on call: ${name}` : `On-call calendar unreadable: ${name}`,
    sentences,
  };
}

/** Why the calendar cannot be read, without parts of its address and of its events: other people than admins see it. */
function calendarText({ reading, calendar }: OnCallRecord, isFailing: boolean): string {
  const since = isFailing ? ` for ${durationText(failingMs)} or longer` : '';
  const use = reading.copy ? 'the last copy is in use' : 'it has never been read';
  const cause = reading.error === null ? '' : `: ${publicError(reading.error, calendar?.url ?? '')}`;
  return `Its calendar could not be read${since}; ${use}${cause}.`;
}

function gapText(
  { from, until }: { readonly from: number; readonly until: number },
  { timeZone }: OnCallRecord,
  now: number,
): string {
  const time = (at: number) => wallText(at, timeZone);
  // When a gap began that is there already may be further back than the plan knows.
  const [begin, more] = from <= now ? ['now', ''] : [`from ${time(from)}`, ' on'];
  const end = Number.isFinite(until) ? ` until ${time(until)}` : `${more}, without an end in sight`;
  return `Nobody is on call ${begin}${end} (${timeZone}).`;
}

/** Both notifications have the same key, so that the end replaces the alarm. */
const keyOf = ({ id }: OnCallRecord) => ({ ...noTexts, key: `belfry:on-call:${id}` });

const fieldsOf = (record: OnCallRecord, { title, sentences }: Problem): CheckedFields => ({
  title: title.slice(0, 250),
  message: sentences.join(' '),
  level: 'error',
  ttl: 0,
  ...keyOf(record),
});

const fixedFields = (record: OnCallRecord): CheckedFields => ({
  title: `On call in order again: ${record.name}`,
  message: 'What the alarm before this one reported is over.',
  level: 'success',
  ttl: null,
  ...keyOf(record),
});
