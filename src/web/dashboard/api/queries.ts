/** Queries of a tenant's data, except rules (rules.ts) and history (history.ts). */

import {
  infiniteQueryOptions,
  type QueryClient,
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type { Channel, ChannelDeliveries } from '#contract/channels/channel.ts';
import type { ValueKey } from '#contract/history/fields.ts';
import type { Expectation } from '#contract/history/notification.ts';
import type { Overview, SavedSearch } from '#contract/history/search.ts';
import type { Capture, Mapping } from '#contract/integrations/integration.ts';
import type { Panel, PanelShowing } from '#contract/panels/panel.ts';
import type { PushDeviceList } from '#contract/panels/push.ts';
import type { Tenant as TenantSettings } from '#contract/people/account.ts';
import type { AuditPage } from '#contract/people/audit.ts';
import type { Invitation, Member } from '#contract/people/member.ts';
import type { Key, Token } from '#contract/people/token.ts';
import type { Level } from '#contract/routing/level.ts';
import type { OnCallDetail, OnCallList, OnCallPreview, OnCallPreviewed } from '#contract/routing/on-call.ts';
import { isStatus } from './call.ts';
import { type Tenant, useTenant } from './tenant.tsx';

/** A query of the resource at `path`. */
const resource = <T>({ api, key }: Tenant, path: string, ...name: readonly unknown[]) =>
  queryOptions({
    queryKey: [...key, ...name],
    queryFn: ({ signal }) => api.get<T>(path, undefined, signal),
  });

/** A whole list: `{ panels: […] }` at `/api/panels`. */
export const listQuery = <T>({ api, key }: Tenant, name: string) =>
  queryOptions({
    queryKey: [...key, name],
    queryFn: async ({ signal }) =>
      (await api.get<Record<string, T[]>>(`/api/${name}`, undefined, signal))[name] as T[],
  });

/** Replaces or appends an item in the cached list, if the list has been read. */
export function putInList<T>(
  client: QueryClient,
  { queryKey }: ReturnType<typeof listQuery<T>>,
  item: NoInfer<T>,
  isSame: (other: NoInfer<T>) => boolean,
): void {
  client.setQueryData<T[]>(queryKey, (list) =>
    list?.some(isSame) ? list.map((each) => (isSame(each) ? item : each)) : list && [...list, item],
  );
}

/** A mutation of one of the tenant's lists; afterwards the list is read again. */
export function useListChange<V, R>(name: string, change: (tenant: Tenant, variables: V) => Promise<R>) {
  const tenant = useTenant();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (variables: V) => change(tenant, variables),
    onSettled: () => client.invalidateQueries({ queryKey: [...tenant.key, name] }),
  });
}

export const settingsQuery = (tenant: Tenant) => resource<TenantSettings>(tenant, '/api/tenant', 'settings');

export const overviewQuery = (tenant: Tenant) =>
  queryOptions({ ...resource<Overview>(tenant, '/api/overview', 'overview'), refetchInterval: 5_000 });

export const levelsQuery = (tenant: Tenant) =>
  queryOptions({ ...listQuery<Level>(tenant, 'levels'), staleTime: 60_000 });

/** The tenant's levels by name; empty until they have been read. */
export function useLevels(): ReadonlyMap<string, Level> {
  const { data } = useQuery({ ...levelsQuery(useTenant()), select: byName });
  return data ?? none;
}

const none: ReadonlyMap<string, Level> = new Map();
/** Cached by list, so that all callers share one map. */
const levelMaps = new WeakMap<readonly Level[], ReadonlyMap<string, Level>>();

function byName(levels: readonly Level[]): ReadonlyMap<string, Level> {
  const known = levelMaps.get(levels) ?? new Map(levels.map((level) => [level.name, level]));
  levelMaps.set(levels, known);
  return known;
}

export const panelPath = (id: string): string => `/api/panels/${encodeURIComponent(id)}`;
export const panelsQuery = (tenant: Tenant) => listQuery<Panel>(tenant, 'panels');
export const channelPath = (id: string): string => `/api/channels/${encodeURIComponent(id)}`;
export const channelsQuery = (tenant: Tenant) => listQuery<Channel>(tenant, 'channels');
export const onCallPath = (id: string): string => `/api/on-call/${encodeURIComponent(id)}`;
export const onCallQuery = ({ api, key }: Tenant) =>
  queryOptions({
    queryKey: [...key, 'onCall'],
    queryFn: async ({ signal }) => (await api.get<OnCallList>('/api/on-call', undefined, signal)).schedules,
  });
/** A schedule with its next two weeks, refreshed while it is displayed. */
export const onCallDetailQuery = (tenant: Tenant, id: string) =>
  queryOptions({
    ...resource<OnCallDetail>(tenant, onCallPath(id), 'onCall', id),
    refetchInterval: panelsRefreshMs,
  });
/** Who a rota puts on call. */
export const onCallPreviewQuery = ({ api, key }: Tenant, body: OnCallPreview) =>
  queryOptions({
    queryKey: [...key, 'onCall', 'preview', body],
    queryFn: ({ signal }) => api.post<OnCallPreviewed>('/api/on-call/preview', body, { signal }),
    retry: false,
  });
export const mappingPath = (name: string): string => `/api/mappings/${encodeURIComponent(name)}`;
export const mappingsQuery = (tenant: Tenant) => listQuery<Mapping>(tenant, 'mappings');
/** The last payload that came to a mapping; null when there is none. */
export const captureQuery = ({ api, key }: Tenant, name: string) =>
  queryOptions({
    queryKey: [...key, 'mappings', name, 'capture'],
    queryFn: ({ signal }) =>
      api.get<Capture>(`${mappingPath(name)}/capture`, undefined, signal).catch((error: unknown) => {
        if (isStatus(error, 404)) return null;
        throw error;
      }),
    refetchInterval: panelsRefreshMs,
  });
const panelsRefreshMs = 4_000;

/** As {@link channelsQuery}, refreshed while it is displayed. */
export const liveChannelsQuery = (tenant: Tenant) =>
  queryOptions({ ...channelsQuery(tenant), refetchInterval: panelsRefreshMs });
export const channelDeliveriesQuery = (tenant: Tenant, id: string) =>
  queryOptions({
    ...resource<ChannelDeliveries>(tenant, `${channelPath(id)}/deliveries`, 'channels', id, 'deliveries'),
    refetchInterval: panelsRefreshMs,
  });

/** The address under which people and phones reach this server (BELFRY_BASE_URL); null: it is not set. */
export const baseUrlQuery = ({ api, key }: Tenant) =>
  queryOptions({
    queryKey: [...key, 'base-url'],
    queryFn: async ({ signal }) => {
      const { base_url: url } = await api.get<{ base_url: string }>('/ntfy/v1/config', undefined, signal);
      return url === '' ? null : url.replace(/\/ntfy$/, '');
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
/** As {@link baseUrlQuery}, or as in the browser. */
export const useServerAddress = (tenant: Tenant): string =>
  useQuery(baseUrlQuery(tenant)).data ?? location.origin;

export const pushDevicesQuery = (tenant: Tenant, id: string) =>
  queryOptions({
    ...resource<PushDeviceList>(tenant, `${channelPath(id)}/devices`, 'channels', id, 'devices'),
    refetchInterval: panelsRefreshMs,
  });

/** As {@link panelsQuery}, refreshed while it is displayed; a long list less often. */
export const livePanelsQuery = (tenant: Tenant) =>
  queryOptions({
    ...panelsQuery(tenant),
    refetchInterval: ({ state }) => ((state.data?.length ?? 0) > 500 ? 30_000 : panelsRefreshMs),
  });

/** What a panel should be showing now. */
export const panelShowingQuery = (tenant: Tenant, id: string) =>
  queryOptions({
    ...resource<PanelShowing>(tenant, `${panelPath(id)}/showing`, 'panels', id, 'showing'),
    refetchInterval: panelsRefreshMs,
  });

export const expectationsQuery = (tenant: Tenant) =>
  queryOptions({ ...listQuery<Expectation>(tenant, 'expectations'), refetchInterval: panelsRefreshMs });

export const membersQuery = (tenant: Tenant) => listQuery<Member>(tenant, 'members');
export const invitationsQuery = (tenant: Tenant) =>
  queryOptions({ ...listQuery<Invitation>(tenant, 'invitations'), enabled: tenant.may('admin') });
export const searchesQuery = (tenant: Tenant) => listQuery<SavedSearch>(tenant, 'searches');

/** Tokens and keys are refreshed, because they show their last use. */
const credentialsRefreshMs = 20_000;
export const tokensQuery = (tenant: Tenant) =>
  queryOptions({ ...listQuery<Token>(tenant, 'tokens'), refetchInterval: credentialsRefreshMs });
export const keysQuery = (tenant: Tenant) =>
  queryOptions({ ...listQuery<Key>(tenant, 'keys'), refetchInterval: credentialsRefreshMs });

export interface AuditFilter {
  readonly by: string;
  readonly action: string;
}

export const auditQuery = ({ api, key }: Tenant, { by, action }: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: [...key, 'audit', { by, action }],
    queryFn: ({ pageParam, signal }) =>
      api.get<AuditPage>(
        '/api/audit',
        { limit: 100, cursor: pageParam ?? undefined, by: by || undefined, action: action || undefined },
        signal,
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

/** Values in history for a key of the query language. Completion uses them, so failures are not reported. */
export const fieldValuesQuery = ({ api, key: tenantKey }: Tenant, key: ValueKey, prefix: string) =>
  queryOptions({
    queryKey: [...tenantKey, 'field-values', key, prefix],
    queryFn: async ({ signal }) =>
      (await api.get<{ values: string[] }>('/api/history/values', { key, prefix }, signal)).values,
    staleTime: 30_000,
    retry: false,
  });
