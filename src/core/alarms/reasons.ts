/** Why a person gets an alarm again, in one sentence above its text, in channels and on phones; and why an action changed nothing. */
import { limits } from '#contract/limits.ts';
import { durationText } from '#contract/time.ts';
import { type AlarmAction, belfryAsActor, type Notification, type Return } from '../log/log.ts';

/** Why an escalation was sent, as in "Nobody acknowledged this within 5 min."; undefined: it is no escalation. */
export function escalationReason({
  route,
  receivedAt,
}: Pick<Notification, 'route' | 'receivedAt'>): string | undefined {
  const { escalates, escalated } = route;
  if (escalates === undefined || !escalated) return undefined;
  const waitedMs = Math.max(1_000, Math.floor((receivedAt - escalated.since) / 1_000) * 1_000);
  const missing = escalated.unless === 'shown' ? 'No panel showed' : 'Nobody acknowledged';
  return `${missing} this within ${durationText(waitedMs)}.`;
}

/** Why an alarm is open again, as in "Open again: acknowledgement taken back by Ann". */
export function returnReason({ from, by }: Pick<Return, 'from' | 'by'>): string {
  const isItself = by === belfryAsActor;
  switch (from) {
    case 'acknowledged':
      return `Open again: ${isItself ? 'the acknowledgement has ended' : `acknowledgement taken back by ${by}`}`;
    case 'shelved':
      return `Open again: ${isItself ? 'the time on the shelf is over' : `taken off the shelf by ${by}`}`;
    case 'suppressed':
      return 'Open again: nothing suppresses it any more';
  }
}

/** Why an action changed nothing; of an acknowledgement, see the alarm. */
export const unchangedReasons: Readonly<Record<Exclude<AlarmAction['kind'], 'acknowledge'>, string>> = {
  unacknowledge: 'it is not acknowledged',
  shelve: 'it has ended',
  unshelve: 'it is not shelved',
  assign: 'it has ended',
  clear: 'it has ended',
};

/** The text of a notification below the reason why it is sent. */
export const withReason = (reason: string | undefined, message: string): string =>
  reason === undefined
    ? message
    : [reason, message]
        .filter((part) => part !== '')
        .join('\n\n')
        .slice(0, limits.messageChars)
        .toWellFormed();
