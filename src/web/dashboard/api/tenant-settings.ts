import { queryOptions } from '@tanstack/react-query';
import type { Tenant as TenantSettings } from '#contract/tenant.ts';
import type { Tenant } from './tenant.tsx';

/** The tenant's own settings. */
export const tenantSettingsQuery = (tenant: Tenant) =>
  queryOptions({
    queryKey: [...tenant.key, 'settings'],
    queryFn: ({ signal }) => tenant.api.get<TenantSettings>('/api/tenant', undefined, signal),
  });
