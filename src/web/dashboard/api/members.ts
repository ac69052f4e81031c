import { queryOptions } from '@tanstack/react-query';
import type { Invitation, Member } from '#contract/member.ts';
import type { Tenant } from './tenant.tsx';

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
