/** The notifications of an alarm: each took the place of the one before. */
import { searchForm } from '#contract/history/fields.ts';
import { limits } from '#contract/limits.ts';
import { isResolve } from '../channels/channels.ts';
import type { History, HistoryRecord } from '../log/log.ts';
import type { TenantId } from '../log/route.ts';
import { literalPattern } from '../search/search-words.ts';

export interface ChainContext {
  readonly history: Pick<History, 'find' | 'findLive' | 'search'>;
  readonly now: () => number;
}

/** The most notifications before or after the given one that are followed. */
const mostFollowed = 200;

/** The notifications of an alarm, newest first, at most 200 of them. A resolve is the last one of its alarm. */
export async function alarmNotifications(
  context: ChainContext,
  tenant: TenantId,
  given: HistoryRecord,
): Promise<HistoryRecord[]> {
  const { history, now } = context;
  const newest = await newestOf(context, tenant, given);
  const { key } = newest;
  if (key === null) return newest.id === given.id ? [given] : [newest, given];
  const query = { kind: 'key', patterns: [literalPattern(searchForm('key', key))] } as const;
  const { records } = await history.search(tenant, query, {
    ...{ limit: mostFollowed, now: now(), timeoutMs: limits.searchMs, before: newest.position + 1 },
  });
  const chain = [newest];
  for (const record of records)
    if (
      record.cleared?.by === chain.at(-1)?.id &&
      record.cleared?.reason === 'replaced' &&
      !isResolve(record)
    )
      chain.push(record);
  return chain;
}

/** The last notification of the alarm of this one. */
async function newestOf(
  { history, now }: ChainContext,
  tenant: TenantId,
  given: HistoryRecord,
): Promise<HistoryRecord> {
  if (given.key !== null && given.cleared?.reason === 'replaced' && !isResolve(given)) {
    const id = await history.findLive(tenant, given.key, now());
    const live = id === undefined ? undefined : await history.find(tenant, id);
    if (live?.alarm && live.alarm.since <= given.receivedAt) return live;
  }
  let last = given;
  for (let i = 0; i < mostFollowed && last.cleared?.reason === 'replaced' && !isResolve(last); i++) {
    const next = await history.find(tenant, last.cleared.by);
    if (!next) break;
    last = next;
  }
  return last;
}
