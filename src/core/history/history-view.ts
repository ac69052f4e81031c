import type { HistoryNotification, historyStates } from '#contract/history/notification.ts';
import { ownSenders } from '../intake/own-sender.ts';
import type { HistoryRecord, Ref, Route } from '../ports.ts';
import { acknowledgedView, contentOf } from '../stream/frames.ts';
import type { Target } from '../target.ts';
import { isEmpty, noPanel, reaches } from '../target.ts';
import type { TenantSnapshot } from '../tenants/tenancy.ts';
import { iso } from '../time.ts';

/** The most panels named in one answer; the count includes all. */
const namedPanels = 50;

/** A record as the API returns it, with the panels that its target reaches now. */
export function historyView(
  record: HistoryRecord,
  snapshot: Pick<TenantSnapshot, 'panels'>,
  now: number,
): HistoryNotification {
  const [before, target, after] = partsOf(record, now);
  return { ...before, ...panelsReached(target, snapshot), ...after };
}

/** A record as three lines of JSON for {@link historyJson}, which adds the panels. The lines themselves are never sent to anybody. */
export const historyLines = (record: HistoryRecord, now: number): string =>
  partsOf(record, now)
    .map((part) => JSON.stringify(part))
    .join('\n');

/** Records as the API returns them: the same JSON as that of {@link historyView}, made one by one. */
export function* historyJson(
  records: readonly string[],
  snapshot: Pick<TenantSnapshot, 'panels'>,
): Generator<string> {
  const panelsOf = new Map<string, string>();
  for (const lines of records) {
    const [before = '', target = '', after = ''] = lines.split('\n');
    let panels = panelsOf.get(target);
    if (panels === undefined) {
      panels = JSON.stringify(panelsReached(JSON.parse(target) as Target, snapshot)).slice(1, -1);
      panelsOf.set(target, panels);
    }
    yield `${before.slice(0, -1)},${panels},${after.slice(1)}`;
  }
}

/** The fields before the panels, the target, and the fields after the panels. */
function partsOf(record: HistoryRecord, now: number) {
  const { route, cleared, throttledOn } = record;
  const before = {
    ...contentOf(record),
    state: stateOf(record, now),
    token: { id: record.tokenId, name: record.tokenName },
    origin: originOf(record),
    rules: route.rules.map(({ id, name }) => ({ id, name })),
    target: targetView(route.target),
  };
  const after = {
    sent: { level: record.sentLevel, ttl: record.sentTtl },
    throttledOn,
    cleared: cleared && { at: iso(cleared.at), by: cleared.by, reason: cleared.reason },
    acknowledged: acknowledgedView(record.acknowledged),
    receipts: { ...record.receipts },
  };
  return [before, route.muted || throttledOn !== null ? noPanel : route.target, after] as const;
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
  target: Target,
  { panels }: Pick<TenantSnapshot, 'panels'>,
): { panels: Ref[]; panelCount: number } {
  const reached: Ref[] = [];
  let panelCount = 0;
  if (!isEmpty(target)) {
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
