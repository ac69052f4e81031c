import { queryOptions } from '@tanstack/react-query';
import type { SavedSearch } from '#contract/search.ts';
import type { Tenant } from './tenant.tsx';

export const searchesQuery = (tenant: Tenant) =>
  queryOptions({
    queryKey: [...tenant.key, 'searches'],
    queryFn: async ({ signal }) =>
      (await tenant.api.get<{ searches: SavedSearch[] }>('/api/searches', undefined, signal)).searches,
  });
