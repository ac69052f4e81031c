import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { isCode } from '#client/api-error.ts';
import type { HistoryNotification, HistoryPage } from '#contract/notification.ts';
import type { NotificationDetail } from '#contract/notification-detail.ts';
import type { RoutingOutcome } from '#contract/routing.ts';
import { isStatus } from './call.ts';
import { HistoryPages } from './history-pages.ts';
import { noteStale, type StaleData } from './stale-data.ts';
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
