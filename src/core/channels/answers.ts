/**
 * What somebody does about an alarm in another system, as PagerDuty or Slack, comes back through the channel by which that system had the
 * alarm. It holds as an action here does, with the name of the person, and does not go back to that channel.
 */
import { limits } from '#contract/limits.ts';
import { buttonShelfMs } from '#contract/panels/buttons.ts';
import { hasEnded, laterNotifications, stands } from '../alarms/notifications.ts';
import { unchangedReasons } from '../alarms/reasons.ts';
import { type AlarmsContext, actOnAlarms } from '../alarms/standing.ts';
import { textProblem } from '../intake/notification.ts';
import type { Acknowledged, AlarmAction, History, HistoryRecord } from '../log/log.ts';
import type { Directory } from '../tenants/directory.ts';
import { iso, wallText } from '../time/time.ts';
import type { ChannelRecord, DeliveryQueue } from './channels.ts';
import { byOf, noteOf, systemOf } from './person-names.ts';
import { mayShelve } from './silences.ts';

export interface ChannelAnswer {
  readonly kind: 'acknowledge' | 'unacknowledge' | 'shelve' | 'unshelve' | 'clear';
  /** The alarm as the channel was sent it: its key, or the id of any of its notifications. */
  readonly alarm: string;
  /** The alarm came from the system of the channel, so it need not have been sent to the channel. */
  readonly isFromThere?: boolean;
  /** Of `shelve` and `unshelve`: it follows what stands in the other system, so {@link mayShelve} decides. */
  readonly isSilence?: boolean;
  /** The person and the system, as `personIn` names them: `Ann Example (PagerDuty)`. */
  readonly by: string;
  readonly note: string | null;
  /** When it was done there, by the clock there. If something else has happened to the alarm since then, nothing is done. Absent: now. */
  readonly at?: number;
  /** How long what stands for the alarm there had stood then, in ms. */
  readonly stoodMs?: number | undefined;
  /** Of `shelve`; absent: for as long as a button shelves. */
  readonly until?: number;
}

export interface AnswersContext extends AlarmsContext {
  readonly history: AlarmsContext['history'] & Pick<History, 'find' | 'findLive' | 'entriesOf'>;
  readonly deliveries: Pick<DeliveryQueue, 'listByNotification' | 'findOpen'>;
  readonly directory: Pick<Directory, 'auditLog' | 'tenants'>;
}

export type Answered = 'done' | 'not-found' | NotDone;

/** `already`: somebody has acknowledged it. `nothing`: it has ended, or there is nothing to do. */
export interface NotDone {
  readonly kind: 'already' | 'nothing';
  /** For people, as in "it is shelved by Ann until 2026-11-30 18:00 Europe/Berlin". */
  readonly why: string;
}

/** A request of another system, as it came. */
export interface SentToChannel {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** What another system says that somebody did. */
export interface SystemAnswer {
  /** undefined: nothing that holds here. */
  readonly answer?: ChannelAnswer | undefined;
  /** The id of the channel whose message has the button: several channels of one app have one address. Absent: that of the address. */
  readonly channel?: string | undefined;
  /** What the system calls the message with the button. */
  readonly message?: string | undefined;
  /** What the system calls the press, if it waits for an answer to it. */
  readonly press?: string | undefined;
}

/** The systems whose answers come to an address of Belfry. */
export interface AnsweringSystems {
  /** undefined: it is not signed with the secret of the channel, or is too old. */
  readAnswer(channel: ChannelRecord, sent: SentToChannel): SystemAnswer | undefined;
  /** What the system gets back, at once. */
  replyTo(of: SystemAnswer, outcome: Answered): object;
  /** Says in the message with the button what was done: one attempt, past the queue. Never rejects. */
  showAnswer(channel: ChannelRecord, of: SystemAnswer, outcome: Answered): Promise<void>;
}

/** How far the clock of another system may be from the clock here. */
const clockToleranceMs = 60_000;
/** Of what has happened to the alarm, the newest, among which a repeat is found. */
const comparedEntries = 20;

/**
 * Does what the answer says, if its channel is enabled and was sent the alarm. A repeat of the same answer changes nothing.
 * @throws AppError `unavailable` when nothing could be stored: the answer must come again.
 */
export async function takeAnswer(
  context: AnswersContext,
  channel: ChannelRecord,
  answer: ChannelAnswer,
): Promise<Answered> {
  const { tenant } = channel;
  const { state, timeZone } = await context.directory.tenants.get(tenant);
  if (!channel.enabled || state !== 'active' || textProblem(answer.alarm)) return 'not-found';
  const standing = await findSent(context, channel, answer);
  if (!standing) return 'not-found';
  const now = context.now();
  const at = Math.min(answer.at ?? now, now);
  // A resolve may be taken off the panels.
  const isOver = answer.kind === 'clear' ? !stands(standing, now) : hasEnded(standing, now);
  if (isOver) return nothing('it has ended');
  if (answer.until !== undefined && answer.until <= now) return nothing();
  if (answer.at !== undefined && (await isOutdated(context, channel, standing, { ...answer, at })))
    return answer.kind === 'acknowledge' && standing.acknowledged
      ? already(standing.acknowledged)
      : nothing('something else happened to it meanwhile');
  const action = actionOf(channel, answer, at);
  if (answer.isSilence && !(await mayShelve(context, channel, standing, action))) return nothing();
  const [outcome] = await actOnAlarms(context, tenant, [standing.id], action);
  if (outcome?.kind === 'done' && (action.kind === 'shelve' || action.kind === 'unshelve'))
    await context.directory.auditLog.add(tenant, {
      ...{ by: action.by, at, action: `alarm.${action.kind}`, subject: outcome.id },
      detail: { alarms: 1, ...(action.kind === 'shelve' && { until: iso(action.until) }) },
    });
  if (outcome?.kind === 'already') return already(outcome.acknowledged);
  if (outcome?.kind === 'nothing')
    return nothing(
      action.kind === 'acknowledge'
        ? offText(outcome.off, standing, timeZone)
        : unchangedReasons[action.kind],
    );
  return outcome?.kind ?? 'not-found';
}

const already = ({ by }: Acknowledged): NotDone => ({
  kind: 'already',
  why: `${by} has acknowledged it already`,
});
const nothing = (why = 'there is nothing to do'): NotDone => ({ kind: 'nothing', why });

/** Why an alarm is on no panel; undefined: it is. */
function offText(
  off: 'shelved' | 'suppressed' | undefined,
  { alarm }: HistoryRecord,
  timeZone: string,
): string | undefined {
  if (off === 'suppressed') return 'it is suppressed by another alarm';
  if (off === undefined) return undefined;
  const shelf = alarm?.shelved;
  return `it is shelved${shelf ? ` by ${shelf.by} until ${wallText(shelf.until, timeZone)} ${timeZone}` : ''}`;
}

function actionOf(
  { id, kind: system }: ChannelRecord,
  { kind, by: person, note: given, until }: ChannelAnswer,
  at: number,
): AlarmAction {
  const by = byOf(person);
  // A broker keeps the state of each alarm, which must be true. Commands have topics of their own, so the state is no answer to one.
  const channel = system === 'mqtt' ? {} : { channel: id };
  const note = noteOf(given);
  switch (kind) {
    case 'unacknowledge':
    case 'unshelve':
      return { kind, ...channel, at, by };
    case 'shelve':
      return {
        kind,
        ...channel,
        at,
        by,
        note,
        until: Math.min(until ?? at + buttonShelfMs, at + limits.shelfMs),
      };
    default:
      return { kind, ...channel, at, by, note };
  }
}

/** The last notification of the alarm, if the channel was sent one of the alarm, or need not have been. */
async function findSent(
  context: AnswersContext,
  channel: ChannelRecord,
  { alarm, isFromThere = false }: ChannelAnswer,
): Promise<HistoryRecord | undefined> {
  const { history, now } = context;
  const live = await history.findLive(channel.tenant, alarm, now());
  const ofKey = live === undefined ? undefined : await history.find(channel.tenant, live);
  if (ofKey && (isFromThere || (await wasSentKey(context, channel, ofKey)))) return ofKey;
  const given = await history.find(channel.tenant, alarm);
  if (!given) return undefined;
  const notifications = await laterNotifications(context, channel.tenant, given);
  let isSent = isFromThere;
  for (const each of notifications) isSent ||= await wasSent(context, channel, each);
  return isSent ? notifications.at(-1) : undefined;
}

/** Whether the channel was sent a notification of the alarm that stands under a key. */
async function wasSentKey(
  context: AnswersContext,
  channel: ChannelRecord,
  standing: HistoryRecord,
): Promise<boolean> {
  const { key, alarm, receivedAt } = standing;
  const open = key === null ? undefined : await context.deliveries.findOpen(channel.tenant, channel.id, key);
  if (open && open.queuedAt >= (alarm?.since ?? receivedAt)) return true;
  return wasSent(context, channel, standing);
}

async function wasSent(
  { deliveries }: AnswersContext,
  { tenant, id: channel }: ChannelRecord,
  { id, route }: HistoryRecord,
): Promise<boolean> {
  if (route.channels?.includes(channel)) return true;
  const sent = await deliveries.listByNotification(tenant, id);
  return sent.some((each) => each.channel === channel && each.event === null);
}

/**
 * Whether it was done before the alarm began, or before something that happened to it: it is late, or comes once more. Times of one
 * system are compared exactly, which finds every repeat; those of two systems with a tolerance.
 */
async function isOutdated(
  { history, now }: AnswersContext,
  { tenant }: ChannelRecord,
  standing: HistoryRecord,
  { alarm, by, at = now(), stoodMs = 0 }: ChannelAnswer,
): Promise<boolean> {
  const since = standing.alarm?.since ?? standing.receivedAt;
  // An id names the alarm itself; a key may have named an earlier one.
  if (alarm === standing.key && at < since) {
    if (at < since - clockToleranceMs || stoodMs > now() - since + 1_000) return true;
  }
  const entries = await history.entriesOf(tenant, [standing.id], comparedEntries);
  return entries.some(
    (entry) =>
      entry.kind !== 'notification' &&
      entry.at >= (systemOf(entry.by) === systemOf(by) ? at : at + clockToleranceMs),
  );
}
