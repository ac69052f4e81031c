/**
 * People and credentials, and what they may do. A principal is the caller as the credential identified it: a token with scopes,
 * an automation key with a role, or a person with a session and a role in the tenant. The tenant of a request comes only from
 * the principal, and another tenant's ids give the same 404 as missing ones. This file is the one place that decides who may do
 * what. Each role includes the ones before it; a role is granted by admins and owners, and never above their own. Secrets of
 * tokens and keys are stored only as hashes; those that must be readable again are encrypted with the server's key
 * (`secrets.ts`). Accounts, members, invitations and sign-in are interfaces that storage and `accounts/` implement.
 */
import type { Role, Scope } from '#contract/people/token.ts';
import { roles } from '#contract/people/token.ts';
import { AppError, forbidden, notFound } from '../errors.ts';
import type { TenantId } from '../log/route.ts';
import { isGone, type RateSetting, type TenantRecord } from '../tenants/tenants.ts';

/** The caller, as their credential identifies them. The tenant of a request comes only from here. */
export type Principal = {
  /** Set while the tenant is suspended: then it may do nothing. */ readonly isSuspended?: true;
} & (
  | {
      readonly kind: 'token';
      readonly tenant: TenantId;
      readonly id: string;
      readonly name: string;
      readonly scopes: readonly Scope[];
      readonly rate: RateSetting;
      /** Set when the token belongs to one screen: then it may act for that panel only. */
      readonly panelId: string | null;
      /** It may be the parameter `token` of a URL. */
      readonly allowInUrl: boolean;
    }
  | {
      readonly kind: 'key';
      readonly tenant: TenantId;
      readonly id: string;
      readonly name: string;
      readonly role: Role;
    }
  | {
      readonly kind: 'person';
      readonly tenant: TenantId;
      readonly id: string;
      readonly name: string;
      readonly email: string;
      /** The role in this tenant. */
      readonly role: Role;
      readonly sessionId: string;
    }
);

/**
 * What a route requires: nothing (`public`), a signed-in person (`person`), a signed-in person who has just confirmed their
 * identity (`proven`), or a token with the scope, or a key or person with at least the role.
 */
export type Policy =
  | 'public'
  | 'person'
  | 'proven'
  | {
      readonly scope?: Scope;
      /** A token with this scope may call it, too. */
      readonly orScope?: Scope;
      readonly role?: Role;
    };

/** Whether the policy requires a signed-in person, whatever their role in a tenant. */
export function isForPeople(policy: Policy): policy is 'person' | 'proven' {
  return policy === 'person' || policy === 'proven';
}

export function roleOf(policy: Policy): Role | undefined {
  return typeof policy === 'string' ? undefined : policy.role;
}

export function scopeOf(policy: Policy): Scope | undefined {
  return typeof policy === 'string' ? undefined : policy.scope;
}

export function allows(policy: Policy, principal: Principal): boolean {
  if (policy === 'public') return true;
  if (isForPeople(policy)) return principal.kind === 'person';
  if (principal.isSuspended) return false;
  const [scope, role] = [scopeOf(policy), roleOf(policy)];
  if (principal.kind === 'token')
    return [scope, policy.orScope].some((each) => each !== undefined && principal.scopes.includes(each));
  return role !== undefined && includesRole(principal.role, role);
}

/** Whether a principal may read the whole address of a channel, and the answers of its receiver: both may contain secrets. */
export function mayReadReceivers(principal: Principal): boolean {
  return allows({ role: 'admin' }, principal);
}

/** The error for a principal that {@link allows} refuses. The interface fixes its text for senders. */
export function refusal(policy: Policy, principal: Principal): AppError {
  if (principal.isSuspended) return tenantSuspended();
  if (typeof policy === 'string') return forbidden('forbidden: requires a signed-in person');
  const { scope, role } = policy;
  if (role === undefined && scope === 'notify') return forbidden();
  const required = [
    scope && `the scope ${scope} (API token)`,
    role && `the role ${role} (automation key or signed-in person)`,
  ].filter(Boolean);
  return forbidden(`forbidden: requires ${required.join(' or ')}`);
}

/** Whether a principal may act for this panel. A screen's own token may act only for its own. */
export function mayUsePanel(principal: Principal, panelId: string): boolean {
  return principal.kind !== 'token' || principal.panelId === null || principal.panelId === panelId;
}

/** The name of a principal in log lines and in the audit log. */
export function actorOf(principal: Principal): string {
  return principal.kind === 'person' ? principal.email : credentialActor(principal);
}

/** The name of a principal on panels and in history: of a person, never the email address; of a paired screen, "panel Lobby". */
export function shownNameOf(principal: Principal): string {
  if (principal.kind === 'person') return principal.name;
  const isScreen = principal.kind === 'token' && principal.panelId !== null;
  return isScreen && principal.name.startsWith('panel ') ? principal.name : credentialActor(principal);
}

/** As {@link actorOf}, for a token or key. */
export function credentialActor({
  kind,
  name,
}: {
  readonly kind: 'token' | 'key';
  readonly name: string;
}): string {
  return `${kind} ${name}`;
}

/** For invitations and links for devices, which have a secret but no credential. @throws AppError `tenant.suspended` or `not-found`. */
export function assertActive(tenant: Pick<TenantRecord, 'state'>): void {
  if (tenant.state === 'suspended') throw tenantSuspended();
  if (isGone(tenant)) throw notFound('tenant');
}

const tenantSuspended = () =>
  new AppError('tenant.suspended', 'the tenant is suspended: ask the operator of this server');

/** Whether one role may do everything that another may. */
export function includesRole(own: Role, other: Role): boolean {
  return roles.indexOf(own) >= roles.indexOf(other);
}

/** The roles that a member may grant to others: none below admin, and none above their own. */
export function grantableRoles(own: Role): readonly Role[] {
  return includesRole(own, 'admin') ? roles.slice(0, roles.indexOf(own) + 1) : [];
}
