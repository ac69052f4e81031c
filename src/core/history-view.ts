import type { HistoryNotification, historyStates } from '#contract/notification.ts';
import { iso } from './iso-time.ts';
import { ownSenders } from './own-sender.ts';
import type { HistoryRecord, Ref, Route } from './ports.ts';
import { acknowledgedView, contentOf } from './stream/frames.ts';
import type { Target } from './target.ts';
import { isEmpty, reaches } from './target.ts';
import type { TenantSnapshot } from './tenancy.ts';

/** The most panels named in one answer; the count includes all. */
const namedPanels = 50;

/** A record as the API returns it, with the panels that its target reaches now. */
export function historyView(
  record: HistoryRecord,
  snapshot: TenantSnapshot,
  now: number,
): HistoryNotification {
  const { route, cleared } = record;
  const shown = !route.muted && record.throttledOn === null;
  return {
    ...contentOf(record),
    state: stateOf(record, now),
    token: { id: record.tokenId, name: record.tokenName },
    origin: originOf(record),
    rules: route.rules.map(({ id, name }) => ({ id, name })),
    target: targetView(route.target),
    ...panelsReached(shown ? route.target : undefined, snapshot),
    sent: { level: record.sentLevel, ttl: record.sentTtl },
    throttledOn: record.throttledOn,
    cleared: cleared && { at: iso(cleared.at), by: cleared.by, reason: cleared.reason },
    acknowledged: acknowledgedView(record.acknowledged),
    receipts: { ...record.receipts },
  };
}

/** The part of Belfry that sent it, as a rule's condition `token` names it; null if the token's sender did. */
export function originOf({ tokenId, route }: Pick<HistoryRecord, 'tokenId' | 'route'>): string | null {
  return route.origin ?? ownSenders.find(({ id }) => id === tokenId)?.id ?? null;
}

export function targetView({ all, ids, tags }: Target): HistoryNotification['target'] {
  return { all, ids: [...ids], tags: [...tags] };
}

/** The registered panels a target reaches: the first of them by name, and how many there are. */
export function panelsReached(
  target: Target | undefined,
  { panels }: Pick<TenantSnapshot, 'panels'>,
): { panels: Ref[]; panelCount: number } {
  const reached: Ref[] = [];
  let panelCount = 0;
  if (target && !isEmpty(target)) {
    for (const panel of panels.values()) {
      if (!reaches(target, panel)) continue;
      panelCount += 1;
      if (reached.length < namedPanels) reached.push({ id: panel.id, name: panel.name });
    }
  }
  return { panels: reached, panelCount };
}

/** The enabled channels that a decision chose. */
export function channelsReached({ channels = [] }: Route, snapshot: Pick<TenantSnapshot, 'channels'>): Ref[] {
  return channels.flatMap((id) => {
    const channel = snapshot.channels.get(id);
    return channel?.enabled ? [{ id, name: channel.name }] : [];
  });
}

function stateOf(record: HistoryRecord, now: number): (typeof historyStates)[number] {
  if (record.route.muted) return 'muted';
  if (record.throttledOn !== null) return 'throttled';
  if (isEmpty(record.route.target)) return 'unrouted';
  if (record.cleared) return 'cleared';
  return record.expiresAt !== null && record.expiresAt <= now ? 'expired' : 'live';
}
