/** What somebody does about an alarm with a button of its notification, on a phone or device that is not signed in. */
import { type Button, buttonShelfMs } from '#contract/panels/buttons.ts';
import { conflict, notFound } from '../errors.ts';
import type { TenantId } from '../log/route.ts';
import type { PanelAddress } from '../log/target.ts';
import type { Directory } from '../tenants/directory.ts';
import { iso } from '../time/time.ts';
import { type AlarmsContext, actOnAlarms } from './standing.ts';

export interface Pressed {
  readonly button: Button;
  /** Whose alarm it is: the id of any of its notifications. */
  readonly notification: string;
  /** Who it is, for others. */
  readonly by: string;
  /** Alarms that do not reach this panel are not found. */
  readonly within?: PanelAddress;
}

/**
 * Acknowledges or shelves the alarm. Returns who did: somebody may have acknowledged it before.
 * @throws AppError `not-found`, and `conflict` when it has ended or is off the panels.
 */
export async function pressButton(
  context: AlarmsContext & { readonly directory: Pick<Directory, 'auditLog'> },
  tenant: TenantId,
  { button, notification, by, within }: Pressed,
): Promise<string> {
  const at = context.now();
  const until = at + buttonShelfMs;
  const given = { at, by, note: null };
  const action = button === 'shelve' ? { kind: button, ...given, until } : { kind: button, ...given };
  const [outcome] = await actOnAlarms(context, tenant, [notification], action, within);
  if (!outcome || outcome.kind === 'not-found') throw notFound('alarm');
  if (outcome.kind === 'already') return outcome.acknowledged.by;
  if (outcome.kind === 'nothing') throw conflict('the alarm has ended, or is off the panels already');
  if (button === 'shelve')
    await context.directory.auditLog.add(tenant, {
      ...{ by, at, action: 'alarm.shelve', subject: outcome.id },
      detail: { alarms: 1, until: iso(until) },
    });
  return by;
}
