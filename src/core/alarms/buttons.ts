/** What somebody does about an alarm with a button of its notification, on a phone or device that is not signed in. */
import { type Button, buttonShelfMs } from '#contract/panels/buttons.ts';
import { conflict, notFound } from '../errors.ts';
import type { History, HistoryRecord } from '../log/log.ts';
import type { TenantId } from '../log/route.ts';
import type { PanelAddress } from '../log/target.ts';
import type { Directory } from '../tenants/directory.ts';
import { iso } from '../time/time.ts';
import { hasEnded, type NotificationsContext, notificationsSince } from './notifications.ts';
import { type AlarmsContext, actOnAlarms } from './standing.ts';

export interface Pressed {
  readonly button: Button;
  /** Whose alarm it is: the id of any of its notifications. */
  readonly notification: string;
  /** Who it is, for others. */
  readonly by: string;
  /** Alarms that do not reach this panel are not found. */
  readonly within?: PanelAddress;
  /** The position of the message with the button. After the alarm has come back, only the button of a later message counts. */
  readonly shownAt?: number;
}

interface ButtonsContext extends AlarmsContext {
  readonly history: AlarmsContext['history'] & Pick<History, 'entriesOf'> & NotificationsContext['history'];
  readonly directory: Pick<Directory, 'auditLog'>;
}

/** The newest of what has happened to the alarm: an older return is not found. */
const entriesRead = 100;

/** Whether the alarm of these notifications has come back to the panels after this position. */
export async function hasComeBack(
  { history }: { readonly history: Pick<History, 'entriesOf'> },
  tenant: TenantId,
  notifications: readonly HistoryRecord[],
  after: number,
): Promise<boolean> {
  const ids = notifications.map(({ id }) => id);
  const entries = await history.entriesOf(tenant, ids, entriesRead);
  return entries.some(({ kind, position }) => kind === 'return' && position > after);
}

const over = 'the alarm has ended';

/**
 * Acknowledges or shelves the alarm. Returns who did: somebody may have acknowledged it before.
 * @throws AppError `not-found`, and `conflict` when it has ended, is off the panels, or has come back since the message.
 */
export async function pressButton(
  context: ButtonsContext,
  tenant: TenantId,
  { button, notification, by, within, shownAt }: Pressed,
): Promise<string> {
  const given = await context.history.find(tenant, notification);
  if (!given) throw notFound('alarm');
  const notifications = await notificationsSince(context, tenant, given);
  if (shownAt !== undefined && (await hasComeBack(context, tenant, notifications, shownAt)))
    throw conflict('the alarm has come back since this message: use the button of the newer one');
  const at = context.now();
  const [last = given] = notifications;
  // The store acknowledges such an alarm, too.
  if (hasEnded(last, at)) throw conflict(over);
  const until = at + buttonShelfMs;
  const pressed = { at, by, note: null };
  const action = button === 'shelve' ? { kind: button, ...pressed, until } : { kind: button, ...pressed };
  const [outcome] = await actOnAlarms(context, tenant, [notification], action, within);
  if (!outcome || outcome.kind === 'not-found') throw notFound('alarm');
  if (outcome.kind === 'already') return outcome.acknowledged.by;
  if (outcome.kind === 'nothing')
    throw conflict(outcome.off ? `the alarm is ${outcome.off}, and so on no panel` : over);
  if (button === 'shelve')
    await context.directory.auditLog.add(tenant, {
      ...{ by, at, action: 'alarm.shelve', subject: outcome.id },
      detail: { alarms: 1, until: iso(until) },
    });
  return by;
}
