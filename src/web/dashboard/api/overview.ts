import { queryOptions } from '@tanstack/react-query';
import type { Overview } from '#contract/overview.ts';
import type { Tenant } from './tenant.tsx';

const freshMs = 5_000;

/** How the tenant stands, kept fresh while it is looked at. */
export const overviewQuery = (tenant: Tenant) =>
  queryOptions({
    queryKey: [...tenant.key, 'overview'],
    queryFn: ({ signal }) => tenant.api.get<Overview>('/api/overview', undefined, signal),
    refetchInterval: freshMs,
  });
