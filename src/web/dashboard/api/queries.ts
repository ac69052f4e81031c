import { infiniteQueryOptions, queryOptions, useQuery } from '@tanstack/react-query';
import type { AuditPage } from '#contract/audit.ts';
import type { Level } from '#contract/level.ts';
import type { Invitation, Member } from '#contract/member.ts';
import type { Overview } from '#contract/overview.ts';
import type { Panel, PanelShowing } from '#contract/panel.ts';
import type { SavedSearch } from '#contract/search.ts';
import type { Tenant as TenantSettings } from '#contract/tenant.ts';
import type { Key, Token } from '#contract/token.ts';
import { type Tenant, useTenant } from './tenant.tsx';

/** The tenant's own settings. */
export const tenantSettingsQuery = (tenant: Tenant) =>
  queryOptions({
    queryKey: [...tenant.key, 'settings'],
    queryFn: ({ signal }) => tenant.api.get<TenantSettings>('/api/tenant', undefined, signal),
  });

export const levelsQuery = (tenant: Tenant) =>
  queryOptions({
    queryKey: [...tenant.key, 'levels'],
    queryFn: async ({ signal }) =>
      (await tenant.api.get<{ levels: Level[] }>('/api/levels', undefined, signal)).levels,
    staleTime: 60_000,
  });

/** The tenant's levels by name; empty until they are here. */
export function useLevels(): ReadonlyMap<string, Level> {
  const { data } = useQuery({
    ...levelsQuery(useTenant()),
    select: byName,
  });
  return data ?? none;
}

/** One map for one answer, however many rows ask for it. */
const maps = new WeakMap<readonly Level[], ReadonlyMap<string, Level>>();

function byName(levels: readonly Level[]): ReadonlyMap<string, Level> {
  const known = maps.get(levels) ?? new Map(levels.map((level) => [level.name, level]));
  maps.set(levels, known);
  return known;
}

const none: ReadonlyMap<string, Level> = new Map();

const panelsRefreshMs = 4_000;
/** A list this long is large: it is asked for less often. */
const many = 500;

export const panelsKey = (tenant: Tenant) => [...tenant.key, 'panels'];
export const panelPath = (id: string): string => `/api/panels/${encodeURIComponent(id)}`;

/** All panels, by name. */
export const panelsQuery = (tenant: Tenant) =>
  queryOptions({
    queryKey: panelsKey(tenant),
    queryFn: async ({ signal }) =>
      (await tenant.api.get<{ panels: Panel[] }>('/api/panels', undefined, signal)).panels,
  });

/** As {@link panelsQuery}, kept true while it is looked at. */
export const livePanelsQuery = (tenant: Tenant) =>
  queryOptions({
    ...panelsQuery(tenant),
    refetchInterval: ({ state }) => ((state.data?.length ?? 0) > many ? 30_000 : panelsRefreshMs),
  });

/** What the panel should be showing now, kept true too. */
export const panelShowingQuery = (tenant: Tenant, id: string) =>
  queryOptions({
    queryKey: [...panelsKey(tenant), id, 'showing'],
    queryFn: ({ signal }) => tenant.api.get<PanelShowing>(`${panelPath(id)}/showing`, undefined, signal),
    refetchInterval: panelsRefreshMs,
  });

export const membersQuery = ({ api, key }: Tenant) =>
  queryOptions({
    queryKey: [...key, 'members'],
    queryFn: async ({ signal }) =>
      (await api.get<{ members: Member[] }>('/api/members', undefined, signal)).members,
  });

export const invitationsQuery = ({ api, key, may }: Tenant) =>
  queryOptions({
    queryKey: [...key, 'invitations'],
    queryFn: async ({ signal }) =>
      (await api.get<{ invitations: Invitation[] }>('/api/invitations', undefined, signal)).invitations,
    enabled: may('admin'),
  });

/** Last use changes without anyone's doing. */
const credentialsRefreshMs = 20_000;

export const tokensKey = (tenant: Tenant) => [...tenant.key, 'tokens'];
export const keysKey = (tenant: Tenant) => [...tenant.key, 'keys'];

export const tokensQuery = (tenant: Tenant) =>
  queryOptions({
    queryKey: tokensKey(tenant),
    queryFn: async ({ signal }) =>
      (await tenant.api.get<{ tokens: Token[] }>('/api/tokens', undefined, signal)).tokens,
    refetchInterval: credentialsRefreshMs,
  });

export const keysQuery = (tenant: Tenant) =>
  queryOptions({
    queryKey: keysKey(tenant),
    queryFn: async ({ signal }) =>
      (await tenant.api.get<{ keys: Key[] }>('/api/keys', undefined, signal)).keys,
    refetchInterval: credentialsRefreshMs,
  });

export const searchesQuery = (tenant: Tenant) =>
  queryOptions({
    queryKey: [...tenant.key, 'searches'],
    queryFn: async ({ signal }) =>
      (await tenant.api.get<{ searches: SavedSearch[] }>('/api/searches', undefined, signal)).searches,
  });

const overviewRefreshMs = 5_000;

/** How the tenant stands, kept fresh while it is looked at. */
export const overviewQuery = (tenant: Tenant) =>
  queryOptions({
    queryKey: [...tenant.key, 'overview'],
    queryFn: ({ signal }) => tenant.api.get<Overview>('/api/overview', undefined, signal),
    refetchInterval: overviewRefreshMs,
  });

interface AuditFilter {
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

/** What has been seen in history behind a key of the query language: for completion, so a failure is no news. */
export const fieldValuesQuery = (
  tenant: Tenant,
  key: 'host' | 'ip' | 'source' | 'key' | 'token' | 'panel' | 'rule',
  prefix: string,
) =>
  queryOptions({
    queryKey: [...tenant.key, 'field-values', key, prefix],
    queryFn: async ({ signal }) =>
      (await tenant.api.get<{ values: string[] }>('/api/history/values', { key, prefix }, signal)).values,
    staleTime: 30_000,
    retry: false,
  });
