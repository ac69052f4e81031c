/** The tenant of the current page. Its name is in the URL, and every request of the page is for it. */
import { useSuspenseQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useMemo } from 'react';
import type { Membership } from '#contract/people/account.ts';
import type { Role } from '#contract/people/token.ts';
import { createStoredChoice } from '../store.ts';
import { type Api, createApi } from './call.ts';
import type { HistoryPages } from './history-pages.ts';
import { sessionQuery } from './session.ts';

export interface Tenant extends Membership {
  readonly api: Api;
  /** Whether the person's role here includes `role`. The server decides; a page only hides what it would refuse. */
  may(role: Role): boolean;
  /** The first part of every query key of this tenant's data. */
  readonly key: readonly ['tenant', string];
  /** The history lists by query, kept so that going back shows the same list again. */
  readonly lists: Map<string, HistoryPages>;
}

const rolesInOrder: readonly Role[] = ['viewer', 'member', 'admin', 'owner'];
const TenantContext = createContext<Tenant | undefined>(undefined);

/** @returns undefined when the person does not belong to a tenant of that name. */
export function useMembership(name: string): Tenant | undefined {
  const { data } = useSuspenseQuery(sessionQuery);
  const membership = data.tenants.find((each) => each.name === name);
  return useMemo(
    () =>
      membership && {
        ...membership,
        api: createApi(membership.name),
        may: (role) => rolesInOrder.indexOf(membership.role) >= rolesInOrder.indexOf(role),
        key: ['tenant', membership.name],
        lists: new Map(),
      },
    [membership],
  );
}

export function TenantProvider({ tenant, children }: { tenant: Tenant; children: ReactNode }) {
  return <TenantContext value={tenant}>{children}</TenantContext>;
}

export function useTenant(): Tenant {
  const tenant = useContext(TenantContext);
  if (!tenant) throw new Error('this page stands outside of a tenant');
  return tenant;
}

const lastName = createStoredChoice('belfry.tenant', (stored) => stored ?? '');

/** Stores the tenant that was open last in this browser; `/` redirects to it. */
export const rememberTenant = (name: string): void => lastName.set(name);

/** undefined when the person belongs to no tenant. */
export const lastTenant = (tenants: readonly Membership[]): string | undefined =>
  (tenants.find(({ name }) => name === lastName.get()) ?? tenants[0])?.name;
