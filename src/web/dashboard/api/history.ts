import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { isCode } from '#client/api-error.ts';
import type { HistoryNotification, HistoryPage } from '#contract/notification.ts';
import type { Histogram } from '#contract/overview.ts';
import type { NotificationDetail, RoutingOutcome } from '#contract/routing.ts';
import { type Api, isStatus } from './call.ts';
import { HistoryPages } from './history-pages.ts';
import { noteStale, type StaleData } from './stale-data.ts';
import { type TailState, useTail } from './tail.ts';
import { type Tenant, useTenant } from './tenant.tsx';

const pageRows = 100;
const renewMs = 5_000;

/** A search's list. It is the same one for as long as its page, or the way back to it, is there. */
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
  const { data } = useQuery({
    queryKey: [...tenant.key, 'history', q],
    queryFn: () => new HistoryPages(load),
    initialData: () => new HistoryPages(load),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 600_000,
    structuralSharing: false,
  });
  useEffect(() => {
    // Come back to: the place stays, what is new is told.
    data.isHeld = false;
    void (data.isReady ? data.refresh(data.isFree) : data.start());
    const stopRenewing = keepRenewed(data);
    const stopListening = data.subscribe(() => noteStale(data, staleDataOf(data)));
    return () => {
      stopRenewing();
      stopListening();
      noteStale(data, undefined);
    };
  }, [data]);
  return data;
}

const staleDataOf = (pages: HistoryPages): StaleData | undefined =>
  pages.staleSince === undefined
    ? undefined
    : { readAt: pages.staleSince, retry: () => void pages.refresh(pages.isFree) };

/** A search that takes long is not run all the time: the pause is this many times as long. */
const pauseFactor = 20;

/** Reads rows in sight that are live again and again, for others clear them and time ends them. Answers how to stop. */
function keepRenewed(pages: HistoryPages): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const schedule = () => {
    timer = setTimeout(renew, Math.max(renewMs, (pages.tookMs ?? 0) * pauseFactor));
  };
  const renew = async () => {
    if (document.visibilityState === 'visible') await pages.renew();
    schedule();
  };
  schedule();
  return () => clearTimeout(timer);
}

/** Draws anew with each change of the list. */
export function useChanges(pages: HistoryPages): number {
  return useSyncExternalStore(pages.subscribe, pages.version);
}

export const notificationQuery = (tenant: Tenant, id: string) =>
  queryOptions({
    queryKey: [...tenant.key, 'notification', id],
    queryFn: ({ signal }) =>
      tenant.api.get<NotificationDetail>(`/api/notifications/${encodeURIComponent(id)}`, undefined, signal),
    placeholderData: () => undefined,
    refetchInterval: ({ state }) => (isCode(state.error, 'not-found') ? false : 5_000),
  });

/** What today's rules say of a recorded notification. */
export const explainQuery = (tenant: Tenant, id: string) =>
  queryOptions({
    queryKey: [...tenant.key, 'rules', 'explain', id],
    queryFn: () => tenant.api.post<RoutingOutcome>('/api/rules/explain', { notification: id }),
    placeholderData: () => undefined,
    staleTime: 10_000,
  });

/**
 * Takes a notification off every panel; the rows that tell of it say so at once. Throws only where it was not cleared:
 * what cannot be read again afterwards is shown as cleared, and is read later.
 */
export function useClear(): (notification: HistoryNotification) => Promise<void> {
  const tenant = useTenant();
  const client = useQueryClient();
  return async (notification) => {
    const { id } = notification;
    await tenant.api.post(`/api/notifications/${encodeURIComponent(id)}/clear`);
    const row = await client
      .fetchQuery({ ...notificationQuery(tenant, id), staleTime: 0 })
      .then(({ trace: _trace, deliveries: _deliveries, ...known }) => known)
      .catch(() => ({ ...notification, state: 'cleared' as const }));
    for (const [, data] of client.getQueriesData({ queryKey: [...tenant.key, 'history'] }))
      if (data instanceof HistoryPages) data.update(row);
  };
}

/** Panels confirm what they show within moments: what came is read again then, with their receipts. */
const settleMs = 2_500;

/** Lets new ones into a list as they arrive, or has them wait while somebody reads. */
export function useLivePages(pages: HistoryPages, q: string, enabled: boolean): TailState {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  return useTail(q, enabled, {
    onArrived: (rows) => {
      pages.add(rows, pages.isFree);
      timer.current ??= setTimeout(() => {
        timer.current = undefined;
        void pages.refresh(pages.isFree);
      }, settleMs);
    },
    onGap: () => void pages.refresh(pages.isFree),
  });
}

interface HistogramAsk {
  readonly q: string;
  /** At most so many. */
  readonly buckets: number;
  /** All there is, where the search names no time; otherwise the last 24 hours are counted then. */
  readonly allTime?: boolean;
}

/** How many a search finds, over time and by level. */
export const histogramQuery = (tenant: Tenant, ask: HistogramAsk) =>
  queryOptions({
    queryKey: [...tenant.key, 'histogram', ask],
    queryFn: ({ signal }) =>
      ask.allTime ? wholeExtent(tenant.api, ask, signal) : count(tenant.api, ask, undefined, signal),
    retry: (failures, error) => failures < 1 && isStatus(error, 0),
  });

const count = (api: Api, { q, buckets }: HistogramAsk, after: string | undefined, signal: AbortSignal) =>
  api.get<Histogram>('/api/history/histogram', { q: q || undefined, after, buckets }, signal);

/** Bars that begin where something is: each round asks about what is left after the empty beginning. */
async function wholeExtent(api: Api, ask: HistogramAsk, signal: AbortSignal): Promise<Histogram> {
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
