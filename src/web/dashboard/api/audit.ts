import { infiniteQueryOptions } from '@tanstack/react-query';
import type { AuditPage } from '#contract/audit.ts';
import type { Tenant } from './tenant.tsx';

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
