/**
 * The notifications of an alarm: each took the place of the one before. Those of a key replace each other, until a resolve is the last
 * one; without a key, only the steps of its escalation replace a notification.
 */
import { searchForm } from '#contract/history/fields.ts';
import { limits } from '#contract/limits.ts';
import { isResolve } from '../channels/channels.ts';
import type { History, HistoryRecord } from '../log/log.ts';
import type { TenantId } from '../log/route.ts';
import { literalPattern } from '../search/search-words.ts';

export interface NotificationsContext {
  readonly history: Pick<History, 'find' | 'findLive' | 'search'>;
  readonly now: () => number;
}

/** The most notifications before or after the given one that are followed. */
const mostFollowed = 200;

/** The notifications of an alarm, newest first, at most 200 before the last one. */
export async function alarmNotifications(
  context: NotificationsContext,
  tenant: TenantId,
  given: HistoryRecord,
): Promise<HistoryRecord[]> {
  const newest = (await laterNotifications(context, tenant, given)).at(-1) ?? given;
  const { key, alarm, position, receivedAt } = newest;
  if (key === null) return [newest, ...(await escalatedBy(context, tenant, newest))];
  // Most alarms. The steps of an escalation are not counted, and a resolve remembers nothing.
  if (!isResolve(newest) && alarm?.count === 1 && alarm.since === receivedAt) return [newest];
  const query = { kind: 'key', patterns: [literalPattern(searchForm('key', key))] } as const;
  const { records } = await context.history.search(tenant, query, {
    ...{ limit: mostFollowed, now: context.now(), timeoutMs: limits.searchMs, before: position },
  });
  const chain = [newest];
  for (const record of records)
    if (isReplaced(record) && record.cleared?.by === chain.at(-1)?.id) chain.push(record);
  return chain;
}

/** As {@link alarmNotifications}, but the given one alone if none has taken its place: without a search, which may have to wait. */
export const notificationsSince = async (
  context: NotificationsContext,
  tenant: TenantId,
  given: HistoryRecord,
): Promise<HistoryRecord[]> => (isReplaced(given) ? alarmNotifications(context, tenant, given) : [given]);

/**
 * The given notification and those of its alarm after it: the last one is that which stands, or the last that stood. Of a key that
 * stands, the ones between are left out.
 */
export async function laterNotifications(
  {
    history,
    now,
  }: Pick<NotificationsContext, 'now'> & {
    readonly history: Pick<History, 'find' | 'findLive'>;
  },
  tenant: TenantId,
  given: HistoryRecord,
): Promise<HistoryRecord[]> {
  const { key, receivedAt } = given;
  if (key !== null && isReplaced(given)) {
    const id = await history.findLive(tenant, key, now());
    const live = id === undefined ? undefined : await history.find(tenant, id);
    // Otherwise it is another alarm of this key.
    if (live?.alarm && live.alarm.since <= receivedAt) return [given, live];
  }
  const found = [given];
  for (let last = given; isReplaced(last) && found.length <= mostFollowed; ) {
    const next = await history.find(tenant, last.cleared?.by ?? '');
    if (!next) break;
    found.push(next);
    last = next;
  }
  return found;
}

/** The notifications that a step of an escalation has replaced, newest first. */
async function escalatedBy(
  { history }: NotificationsContext,
  tenant: TenantId,
  step: HistoryRecord,
): Promise<HistoryRecord[]> {
  const found: HistoryRecord[] = [];
  for (let { escalates } = step.route; escalates !== undefined && found.length < mostFollowed; ) {
    const earlier = await history.find(tenant, escalates);
    if (!earlier) break;
    found.push(earlier);
    ({ escalates } = earlier.route);
  }
  return found;
}

/** Whether a later notification of its alarm has taken its place. */
const isReplaced = (record: HistoryRecord): boolean =>
  record.cleared?.reason === 'replaced' && !isResolve(record);

/** Whether an alarm is over, by the last of its notifications: a resolve may still be on panels. */
export const hasEnded = (last: HistoryRecord, now: number): boolean => !stands(last, now) || isResolve(last);

/** Whether a notification is on panels, or would be without a shelf and the like. */
export const stands = ({ cleared, expiresAt }: HistoryRecord, now: number): boolean =>
  cleared === null && (expiresAt === null || expiresAt > now);
