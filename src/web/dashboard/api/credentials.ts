/** API tokens and automation keys: what others come with. */
import { queryOptions } from '@tanstack/react-query';
import type { Key, Token } from '#contract/token.ts';
import type { Tenant } from './tenant.tsx';

/** Last use changes without anyone's doing. */
const freshMs = 20_000;

export const tokensKey = (tenant: Tenant) => [...tenant.key, 'tokens'];
export const keysKey = (tenant: Tenant) => [...tenant.key, 'keys'];

export const tokensQuery = (tenant: Tenant) =>
  queryOptions({
    queryKey: tokensKey(tenant),
    queryFn: async ({ signal }) =>
      (await tenant.api.get<{ tokens: Token[] }>('/api/tokens', undefined, signal)).tokens,
    refetchInterval: freshMs,
  });

export const keysQuery = (tenant: Tenant) =>
  queryOptions({
    queryKey: keysKey(tenant),
    queryFn: async ({ signal }) =>
      (await tenant.api.get<{ keys: Key[] }>('/api/keys', undefined, signal)).keys,
    refetchInterval: freshMs,
  });
