/** Raises a notification when a panel has not been connected for the configured time, and another one when it is back. */

import { noTexts } from '#contract/history/fields.ts';
import { durationText } from '#contract/time.ts';
import type { Intake } from '../intake/intake.ts';
import type { CheckedFields } from '../intake/notification.ts';
import { ownSenderId } from '../intake/own-sender.ts';
import type { TenantId } from '../log/route.ts';
import { isEscalation, type TakeOffContext, takeOffStanding } from '../log/take-off.ts';
import type { UsageRecorder } from '../people/usage-recorder.ts';
import type { Presence } from '../streams/presence.ts';
import type { Directory, PanelRecord } from '../tenants/directory.ts';
import type { DueTime, Schedule } from './schedule.ts';

interface Watched {
  /** The notification that reports the lost panel; null while it is not lost. */
  readonly raised: string | null;
}

export interface LostPanelContext extends TakeOffContext {
  readonly schedule: Schedule;
  readonly intake: Pick<Intake, 'raise' | 'findRaised'>;
  readonly panels: Pick<Directory['panels'], 'find'>;
  readonly presence: Pick<Presence, 'online'>;
  readonly usage: Pick<UsageRecorder, 'lastContact'>;
  /** When this node started: panels may need the same time to connect to it, and also after the clock was set. */
  readonly startedAt: number;
}

const kind = 'panel';
/** How soon a lost panel is checked after a screen has connected. By then every node knows the connection. */
const backMs = 5_000;
/** How often a lost panel is checked, in case its return was missed. */
const restMs = 3_600_000;

/** Call it when a screen of a watched panel has connected: a lost panel is then checked soon. */
export async function noticeScreen(schedule: Schedule, tenant: TenantId, id: string): Promise<void> {
  for (;;) {
    const watched = await schedule.dueTimes.find({ tenant, kind, subject: id });
    if (!watched || (watched.data as Watched).raised === null) return;
    if (await schedule.putOff(watched, backMs, watched.data)) return;
    // A check in progress settled it in the meantime.
  }
}

/** Call it before the setting is stored; undefined ends watching. */
export async function watchPanel(
  schedule: Schedule,
  { tenant, id }: { readonly tenant: TenantId; readonly id: string },
  alertWhenLostMs: number | undefined,
): Promise<void> {
  const subject = { tenant, kind, subject: id } as const;
  const watched = await schedule.dueTimes.find(subject);
  // A panel that is no longer watched is dropped at its due time, and its notification cleared.
  if (alertWhenLostMs === undefined && !watched) return;
  if (!watched) return void (await schedule.put(subject, alertWhenLostMs ?? 0, { raised: null }));
  const { raised } = watched.data as Watched;
  // A check in progress schedules the next one by the setting at that time.
  await schedule.putOff(watched, raised === null ? (alertWhenLostMs ?? 0) : backMs, { raised });
}

export async function lookAtPanel(context: LostPanelContext, due: DueTime): Promise<void> {
  const { panels, presence } = context;
  const { tenant, subject: id } = due;
  const { raised } = due.data as Watched;
  const panel = await panels.find(tenant, id);
  const lostMs = panel?.display.alertWhenLostMs;
  if (!panel || lostMs === undefined) {
    if (raised !== null) await takeOffStanding(context, tenant, raised, ownSenderId(kind), isEscalation);
    return void (await context.schedule.dueTimes.settle(due, undefined));
  }
  const isOnline = (await presence.online(tenant, id)).panels.has(id);
  if (!isOnline) return void (await lookAtAbsent(context, due, panel, lostMs));
  if (raised !== null) await context.intake.raise(tenant, own(due, backFields(panel)));
  await context.schedule.putOff(due, lostMs, { raised: null });
}

async function lookAtAbsent(
  context: LostPanelContext,
  due: DueTime,
  panel: PanelRecord,
  lostMs: number,
): Promise<boolean> {
  const { schedule, intake, usage, now, startedAt } = context;
  const { tenant } = due;
  const { raised } = due.data as Watched;
  if (raised !== null) return schedule.putOff(due, restMs, { raised });
  const lost = own(due, lostFields(panel, lostMs));
  const earlier = await intake.findRaised(tenant, lost.retryKey);
  const seenAt = usage.lastContact(panel)?.at ?? panel.lastSeenAt;
  // A panel can be lost only after a screen has been connected to it.
  const leftMs = seenAt === null ? lostMs : Math.max(seenAt, startedAt, schedule.clockSetAt) + lostMs - now();
  if (earlier === undefined && leftMs > 0) return schedule.putOff(due, leftMs, { raised: null });
  const id = earlier ?? (await intake.raise(tenant, lost));
  // A screen that connects at this moment cannot see yet that the panel is lost.
  return schedule.putOff(due, backMs, { raised: id });
}

const own = ({ version }: DueTime, fields: CheckedFields) =>
  ({ by: kind, fields, retryKey: { key: `belfry:${kind}:${version}` } }) as const;

/** Both notifications have the same key, so that "back" replaces "lost". */
const fieldsFor = ({ id }: PanelRecord) => ({ ...noTexts, key: `belfry:panel:${id}` });

const lostFields = (panel: PanelRecord, lostMs: number): CheckedFields => ({
  title: `Panel ${panel.name} is offline`,
  message: `It has not been connected for ${durationText(lostMs)}.`,
  level: 'error',
  ttl: 0,
  ...fieldsFor(panel),
});

const backFields = (panel: PanelRecord): CheckedFields => ({
  title: `Panel ${panel.name} is back`,
  message: 'It is connected again.',
  level: 'success',
  ttl: null,
  ...fieldsFor(panel),
});
