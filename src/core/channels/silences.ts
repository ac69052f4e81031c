/**
 * Silences of another system, as Alertmanager: what a silence covers there is on the shelf here until the silence ends. What people
 * do here counts more than the silence: a shelf of theirs stays as it is, and an alarm that they take back from the shelf stays back
 * until the silence is another.
 */
import { searchForm } from '#contract/history/fields.ts';
import { limits } from '#contract/limits.ts';
import type { AlarmAction, History, HistoryRecord, Shelved } from '../log/log.ts';
import { literalPattern } from '../search/search-words.ts';
import type { ChannelRecord } from './channels.ts';
import { byOf, noteOf, personIn } from './person-names.ts';

/** What a shelf has of the silence that it follows. */
export type SilenceShelf = Pick<Shelved, 'by' | 'note' | 'until'>;

interface SilencesContext {
  readonly history: Pick<History, 'entriesOf' | 'search'>;
  readonly now: () => number;
}

/** Of the newest notifications of an alarm, and of what happened to them, those among which an earlier shelf is looked for. */
const [mostNotifications, mostEntries] = [200, 100];

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
  { history, now }: SilencesContext,
  channel: ChannelRecord,
  { id, key, position, alarm }: HistoryRecord,
): Promise<Shelved | undefined> {
  const { tenant } = channel;
  const ids = [id];
  if (key !== null && alarm && alarm.count > 1) {
    const query = { kind: 'key', patterns: [literalPattern(searchForm('key', key))] } as const;
    const { records } = await history.search(tenant, query, {
      ...{ limit: mostNotifications, now: now(), timeoutMs: limits.searchMs, before: position },
    });
    ids.push(...records.filter(({ receivedAt }) => receivedAt >= alarm.since).map((record) => record.id));
  }
  const entries = await history.entriesOf(tenant, ids, mostEntries);
  const last = entries.findLast(
    (entry) =>
      (entry.kind === 'shelving' && isShelfOf(channel, entry)) ||
      (entry.kind === 'return' && entry.from === 'shelved' && entry.by === byOf(channel.name)),
  );
  return last?.kind === 'shelving' ? last : undefined;
}
