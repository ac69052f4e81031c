/** What rules do, asked without doing it. */
import { queryOptions } from '@tanstack/react-query';
import type { HistoryNotification, HistoryPage } from '#contract/notification.ts';
import type { NotificationDetail } from '#contract/notification-detail.ts';
import type { ExplainRequest, ReplayRequest, ReplayResponse, RoutingOutcome } from '#contract/routing.ts';
import { isStatus } from './call.ts';
import type { Tenant } from './tenant.tsx';

/** @param version Names the rules in force: an answer from before they were changed is none. */
export const routingQuery = (tenant: Tenant, request: ExplainRequest, version: string) =>
  queryOptions({
    queryKey: [...tenant.key, 'routing', request, version],
    queryFn: ({ signal }) => tenant.api.post<RoutingOutcome>('/api/rules/explain', request, { signal }),
    staleTime: 30_000,
    gcTime: 10_000,
    // Two drafts of a tenant are looked at together; whoever writes a third asks again.
    retry: (failures, error) => failures < 3 && isStatus(error, 429),
    retryDelay: 1_000,
  });

/** Thirty days of a busy tenant take minutes; whoever waits can cancel. */
const replayTimeoutMs = 600_000;

export const askReplay = (tenant: Tenant, request: ReplayRequest, signal: AbortSignal) =>
  tenant.api.post<ReplayResponse>('/api/rules/replay', request, { signal, timeoutMs: replayTimeoutMs });

/** The newest that a query finds, to choose one of. */
export const recordedQuery = (tenant: Tenant, q: string) =>
  queryOptions({
    queryKey: [...tenant.key, 'recorded', q],
    queryFn: async ({ signal }) =>
      (await tenant.api.get<HistoryPage>('/api/history', { q: q === '' ? undefined : q, limit: 8 }, signal))
        .notifications,
    retry: false,
  });

export const recordedOneQuery = (tenant: Tenant, id: string) =>
  queryOptions({
    queryKey: [...tenant.key, 'recorded-one', id],
    queryFn: ({ signal }): Promise<HistoryNotification> =>
      tenant.api.get<NotificationDetail>(`/api/notifications/${encodeURIComponent(id)}`, undefined, signal),
    placeholderData: () => undefined,
    staleTime: 60_000,
  });
