/** Live results of a search, over reconnects. */
import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { isCode } from '#client/call.ts';
import type {
  AcknowledgeAccepted,
  HistoryNotification,
  HistoryPage,
} from '#contract/history/notification.ts';
import type { Histogram } from '#contract/history/search.ts';
import type { NotificationDetail } from '#contract/routing/routing.ts';
import { type Api, isStatus } from './call.ts';
import { type TailState, useEventStream } from './event-stream.ts';
import { HistoryPages } from './history-pages.ts';
import { noteStale } from './query-client.ts';
import { type Tenant, useTenant } from './tenant.tsx';

interface TailEvents {
  /** New ones, the oldest first. */
  onArrived(rows: readonly HistoryNotification[]): void;
  /** Something may have been missed: read the head again. Called at every beginning too. */
  onGap(): void;
}

/** What arrives within this time is drawn together. */
const gatherMs = 100;

/** Follows a search while `enabled`, and returns the state of the connection. The stream does not resume: after a gap the head is read again. */
function useTail(q: string, enabled: boolean, events: TailEvents): TailState {
  const latest = useRef(events);
  latest.current = events;
  const gathered = useRef<HistoryNotification[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what another search found is not delivered
  useEffect(
    () => () => {
      gathered.current = [];
    },
    [q, enabled],
  );
  const deliver = () => {
    const rows = gathered.current;
    gathered.current = [];
    if (rows.length > 0) latest.current.onArrived(rows);
  };
  return useEventStream('/api/history/stream', { q }, enabled, (type, data) => {
    if (type === 'ready' || type === 'gap') latest.current.onGap();
    if (type !== 'notification') return;
    if (gathered.current.push(data as HistoryNotification) === 1) setTimeout(deliver, gatherMs);
  });
}

/** History: the list of a search, one notification, and counts over time. */

const pageRows = 100;
const keptLists = 10;
const renewMs = 5_000;
/** The pause between two runs of a search, as a multiple of its duration. */
const pauseFactor = 20;

/** The list of a search. Returning to the search shows the same list at the same place. */
export function useHistoryPages(q: string): HistoryPages {
  const tenant = useTenant();
  const client = useQueryClient();
  const load = (cursor: string | undefined) =>
    client.fetchQuery({
      queryKey: [...tenant.key, 'history-page', q, cursor ?? ''],
      queryFn: ({ signal }) =>
        tenant.api.get<HistoryPage>('/api/history', { q: q || undefined, limit: pageRows, cursor }, signal),
      staleTime: 0,
      gcTime: 0,
      retry: (failures, error) => failures < 2 && (isStatus(error, 0) || isStatus(error, 503)),
    });
  const pages = tenant.lists.get(q) ?? new HistoryPages(load);
  tenant.lists.delete(q);
  tenant.lists.set(q, pages);
  for (const oldest of [...tenant.lists.keys()].slice(0, -keptLists)) tenant.lists.delete(oldest);
  useEffect(() => {
    pages.isHeld = false;
    void (pages.isReady ? pages.refresh() : pages.start());
    const timer = { current: 0 };
    const renewLater = () => {
      timer.current = window.setTimeout(
        async () => {
          if (document.visibilityState === 'visible') await pages.renew();
          if (timer.current !== 0) renewLater();
        },
        Math.max(renewMs, pages.lastTookMs * pauseFactor),
      );
    };
    renewLater();
    const stopListening = pages.subscribe(() =>
      noteStale(
        pages,
        pages.staleSince === undefined
          ? undefined
          : { readAt: pages.staleSince, retry: () => void pages.refresh() },
      ),
    );
    return () => {
      clearTimeout(timer.current);
      timer.current = 0;
      stopListening();
      noteStale(pages, undefined);
    };
  }, [pages]);
  return pages;
}

/** Draws again with each change of the list. */
export function useChanges(pages: Pick<HistoryPages, 'subscribe' | 'version'>): number {
  return useSyncExternalStore(pages.subscribe, pages.version);
}

/** Panels confirm what they show within moments: the head is read again then, with their receipts. */
const receiptsMs = 2_500;

/** Adds new notifications as they arrive; they wait while somebody reads the list. */
export function useLivePages(pages: HistoryPages, q: string, enabled: boolean): TailState {
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const refresh = () => {
    timer.current = 0;
    void pages.refresh();
  };
  return useTail(q, enabled, {
    onArrived: (rows) => {
      pages.add(rows);
      timer.current ||= window.setTimeout(refresh, receiptsMs);
    },
    onGap: () => void pages.refresh(),
  });
}

export const notificationQuery = (tenant: Tenant, id: string) =>
  queryOptions({
    queryKey: [...tenant.key, 'notification', id],
    queryFn: ({ signal }) =>
      tenant.api.get<NotificationDetail>(`/api/notifications/${encodeURIComponent(id)}`, undefined, signal),
    placeholderData: () => undefined,
    refetchInterval: ({ state }) => (isCode(state.error, 'not-found') ? false : 5_000),
  });

/**
 * Clears a notification and updates its rows at once. Throws only if it was not cleared: if it cannot be read again afterwards,
 * it is shown as cleared.
 */
export function useClear(): (notification: HistoryNotification) => Promise<void> {
  const tenant = useTenant();
  const client = useQueryClient();
  return async (notification) => {
    const { id } = notification;
    await tenant.api.post(`/api/notifications/${encodeURIComponent(id)}/clear`);
    const row = await client
      .fetchQuery({ ...notificationQuery(tenant, id), staleTime: 0 })
      .then(({ trace: _trace, deliveries: _deliveries, channels: _channels, ...known }) => known)
      .catch(() => ({ ...notification, state: 'cleared' as const }));
    for (const pages of tenant.lists.values()) pages.update(row);
  };
}

/** Acknowledges a notification and updates its rows at once. Returns who was first. */
export function useAcknowledge(): (
  notification: HistoryNotification,
  note: string,
) => Promise<AcknowledgeAccepted> {
  const tenant = useTenant();
  const client = useQueryClient();
  return async (notification, note) => {
    const { id } = notification;
    const path = `/api/notifications/${encodeURIComponent(id)}/acknowledge`;
    const answer = await tenant.api.post<AcknowledgeAccepted>(path, note === '' ? {} : { note });
    const row = { ...notification, acknowledged: answer.acknowledged };
    // Otherwise the acknowledgement is of what has replaced it, and comes with the list's new entries.
    if (answer.id === id) for (const pages of tenant.lists.values()) pages.update(row);
    void client.invalidateQueries({ queryKey: [...tenant.key, 'notification', id] });
    return answer;
  };
}

interface HistogramOptions {
  readonly q: string;
  /** The most buckets. */
  readonly buckets: number;
  /** Count everything, for a search whose time range has no beginning; otherwise 24 hours. */
  readonly allTime?: boolean;
}

/** How many a search finds, over time and by level. */
export const histogramQuery = (tenant: Tenant, ask: HistogramOptions) =>
  queryOptions({
    queryKey: [...tenant.key, 'histogram', ask],
    queryFn: ({ signal }) =>
      ask.allTime ? wholeExtent(tenant.api, ask, signal) : count(tenant.api, ask, undefined, signal),
    retry: (failures, error) => failures < 1 && isStatus(error, 0),
  });

const count = (api: Api, { q, buckets }: HistogramOptions, after: string | undefined, signal: AbortSignal) =>
  api.get<Histogram>('/api/history/histogram', { q: q || undefined, after, buckets }, signal);

/** Requests the histogram again without its empty beginning, until the bars start with the first notifications. */
async function wholeExtent(api: Api, ask: HistogramOptions, signal: AbortSignal): Promise<Histogram> {
  const all = await count(api, { ...ask, buckets: 200 }, new Date(0).toISOString(), signal);
  let histogram = all;
  for (let round = 0; round < 4; round++) {
    const first = firstFilled(histogram);
    if (first < 0 || (round > 0 && first < histogram.buckets.length / 2)) break;
    const bucket = histogram.buckets[first];
    const finer = await count(api, ask, bucket?.at, signal);
    if (finer.bucketMs >= histogram.bucketMs) break;
    histogram = finer;
  }
  const { total, searchedTo } = all;
  return {
    ...histogram,
    buckets: histogram.buckets.slice(emptyAtFirst(histogram)),
    total: Math.max(total, histogram.total),
    searchedTo: histogram.searchedTo ?? searchedTo,
  };
}

/** Fewer bars than these would be blocks. */
const fewest = 48;

/** How many of the bars before the first filled one are left out. */
const emptyAtFirst = (histogram: Histogram) =>
  Math.max(0, Math.min(firstFilled(histogram), histogram.buckets.length - fewest));

const firstFilled = ({ buckets }: Histogram) =>
  buckets.findIndex(({ counts }) => Object.values(counts).some((each) => each > 0));
