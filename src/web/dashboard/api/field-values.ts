import { queryOptions } from '@tanstack/react-query';
import type { Tenant } from './tenant.tsx';

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
