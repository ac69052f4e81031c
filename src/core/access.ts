/** Who may do what: the one place that decides it. */
import type { Role, Scope } from '../contract/token.ts';
import { roles } from '../contract/token.ts';
import type { RateSetting } from './directory.ts';
import type { TenantId } from './ports.ts';

/** Whoever a credential speaks for. The tenant comes from here and from nowhere else. */
export type Principal =
  | {
      readonly kind: 'token';
      readonly tenant: TenantId;
      readonly id: string;
      readonly name: string;
      readonly scopes: readonly Scope[];
      readonly rate: RateSetting;
      /** Set when the token was handed to one screen: it may act for that panel alone. */
      readonly panelId: string | null;
    }
  | {
      readonly kind: 'key';
      readonly tenant: TenantId;
      readonly id: string;
      readonly name: string;
      readonly role: Role;
    };

/** What a route asks for: nothing at all, or a token with the scope, or a key with at least the role. */
export type Policy = 'public' | { readonly scope?: Scope; readonly role?: Role };

export function allows(policy: Policy, principal: Principal): boolean {
  if (policy === 'public') return true;
  if (principal.kind === 'token')
    return policy.scope !== undefined && principal.scopes.includes(policy.scope);
  return policy.role !== undefined && roles.indexOf(principal.role) >= roles.indexOf(policy.role);
}

/** Whether a principal may act for this panel: a screen's own token reaches no other. */
export function mayUsePanel(principal: Principal, panelId: string): boolean {
  return principal.kind !== 'token' || principal.panelId === null || principal.panelId === panelId;
}

/** The name under which a principal's changes stand in log and audit. */
export function actorOf(principal: Principal): string {
  return `${principal.kind} ${principal.name}`;
}
