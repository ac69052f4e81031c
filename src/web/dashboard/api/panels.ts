import { queryOptions } from '@tanstack/react-query';
import type { Panel, PanelShowing } from '#contract/panel.ts';
import type { Tenant } from './tenant.tsx';

const freshMs = 4_000;
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
    refetchInterval: ({ state }) => ((state.data?.length ?? 0) > many ? 30_000 : freshMs),
  });

/** What the panel should be showing now, kept true too. */
export const panelShowingQuery = (tenant: Tenant, id: string) =>
  queryOptions({
    queryKey: [...panelsKey(tenant), id, 'showing'],
    queryFn: ({ signal }) => tenant.api.get<PanelShowing>(`${panelPath(id)}/showing`, undefined, signal),
    refetchInterval: freshMs,
  });
