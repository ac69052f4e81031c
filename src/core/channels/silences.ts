/**
 * Silences of another system, as Alertmanager: what a silence covers there is on the shelf here until the silence ends. What people
 * do here counts more than the silence: a shelf of theirs stays as it is, and an alarm that they take back from the shelf stays back
 * until the silence is another.
 */
import { limits } from '#contract/limits.ts';
import { alarmNotifications, type NotificationsContext } from '../alarms/notifications.ts';
import type { AlarmAction, History, HistoryRecord, Shelved } from '../log/log.ts';
import type { ChannelRecord } from './channels.ts';
import { byOf, noteOf, personIn } from './person-names.ts';

/** What a shelf has of the silence that it follows. */
export type SilenceShelf = Pick<Shelved, 'by' | 'note' | 'until'>;

interface SilencesContext extends NotificationsContext {
  readonly history: NotificationsContext['history'] & Pick<History, 'entriesOf'>;
}

/** Of what has happened to an alarm, the newest entries, among which an earlier shelf is looked for. */
const mostEntries = 100;

/** The shelf that a silence asks for; `by` names the person and the channel. */
export const shelfOf = (
  { name }: Pick<ChannelRecord, 'name'>,
  silence: { readonly createdBy: unknown; readonly comment: string | null; readonly endsAt: number },
): SilenceShelf => ({
  by: byOf(personIn(byOf(name), silence.createdBy)),
  note: noteOf(silence.comment),
  until: silence.endsAt,
});

/** Whether a shelf is one that the channel made, by whose name it is. */
export function isShelfOf({ name }: Pick<ChannelRecord, 'name'>, { by }: Pick<Shelved, 'by'>): boolean {
  const own = byOf(name);
  return by === own || by.endsWith(` (${own})`);
}

/** Whether a shelf is the one that was asked for, also if that was longer than a shelf may be. */
export const isSameShelf = ({ at, by, note, until }: Shelved, wanted: SilenceShelf): boolean =>
  by === wanted.by &&
  note === wanted.note &&
  (until === wanted.until || (until === at + limits.shelfMs && wanted.until > until));

/** Whether an alarm is to be put on the shelf for a silence, or to be taken off because its silence has ended. */
export async function mayShelve(
  context: SilencesContext,
  channel: ChannelRecord,
  standing: HistoryRecord,
  action: AlarmAction,
): Promise<boolean> {
  const shelf = standing.alarm?.shelved ?? null;
  if (shelf && !isShelfOf(channel, shelf)) return false;
  if (action.kind !== 'shelve') return shelf !== null;
  const earlier = shelf ?? (await findEarlierShelf(context, channel, standing));
  return !earlier || !isSameShelf(earlier, action);
}

/** The last shelf that the channel made of this alarm, unless the channel has taken it back itself. */
async function findEarlierShelf(
  context: SilencesContext,
  channel: ChannelRecord,
  standing: HistoryRecord,
): Promise<Shelved | undefined> {
  const notifications = await alarmNotifications(context, channel.tenant, standing);
  const ids = notifications.map(({ id }) => id);
  const entries = await context.history.entriesOf(channel.tenant, ids, mostEntries);
  const last = entries.findLast(
    (entry) =>
      (entry.kind === 'shelving' && isShelfOf(channel, entry)) ||
      (entry.kind === 'return' && entry.from === 'shelved' && entry.by === byOf(channel.name)),
  );
  return last?.kind === 'shelving' ? last : undefined;
}
