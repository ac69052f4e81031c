/** What somebody does about an alarm with a button of its notification, on a phone or device that is not signed in. */
import { type Button, buttonShelfMs } from '#contract/panels/buttons.ts';
import { isResolve } from '../channels/channels.ts';
import { conflict, notFound } from '../errors.ts';
import type { History } from '../log/log.ts';
import type { TenantId } from '../log/route.ts';
import type { PanelAddress } from '../log/target.ts';
import type { Directory } from '../tenants/directory.ts';
import { iso } from '../time/time.ts';
import { alarmNotifications, type ChainContext } from './notifications.ts';
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

interface ReturnsContext extends ChainContext {
  readonly history: ChainContext['history'] & Pick<History, 'entriesOf'>;
}

interface ButtonsContext extends AlarmsContext {
  readonly history: AlarmsContext['history'] & ReturnsContext['history'];
  readonly directory: Pick<Directory, 'auditLog'>;
}

/** The newest of what has happened to the alarm: an older return is not found. */
const entriesRead = 100;

/** Whether the alarm of a notification has come back to the panels after this position. */
export async function hasComeBack(
  context: ReturnsContext,
  tenant: TenantId,
  notification: string,
  after: number,
): Promise<boolean> {
  const { history } = context;
  const record = await history.find(tenant, notification);
  const isReplaced = record?.cleared?.reason === 'replaced';
  // One that took its place since may have come back.
  const records = isReplaced ? await alarmNotifications(context, tenant, record) : [];
  const ids = new Set([notification, ...records.map(({ id }) => id)]);
  const entries = await history.entriesOf(tenant, [...ids], entriesRead);
  return entries.some(({ kind, position }) => kind === 'return' && position > after);
}

/** Whether the alarm of a notification is over: the store acknowledges such an alarm, too. */
async function hasEnded(context: ButtonsContext, tenant: TenantId, notification: string): Promise<boolean> {
  const given = await context.history.find(tenant, notification);
  if (!given) return false;
  const isReplaced = given.cleared?.reason === 'replaced';
  const [last = given] = isReplaced ? await alarmNotifications(context, tenant, given) : [];
  const { cleared, expiresAt } = last;
  return cleared !== null || (expiresAt !== null && expiresAt <= context.now()) || isResolve(last);
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
  if (shownAt !== undefined && (await hasComeBack(context, tenant, notification, shownAt)))
    throw conflict('the alarm has come back since this message: use the button of the newer one');
  if (await hasEnded(context, tenant, notification)) throw conflict(over);
  const at = context.now();
  const until = at + buttonShelfMs;
  const given = { at, by, note: null };
  const action = button === 'shelve' ? { kind: button, ...given, until } : { kind: button, ...given };
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
