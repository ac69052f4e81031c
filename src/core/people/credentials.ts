/** Creates, changes and shows tokens and automation keys. Only the answer to their creation holds the secret. */
import {
  type Key,
  type KeyCreate,
  type Role,
  scopes,
  type Token,
  type TokenCreate,
  type TokenPatch,
} from '#contract/people/token.ts';
import { type AddressRange, canonicalNetwork, containsRange, parseAddressRange } from '../addresses.ts';
import { badField, badRequest, forbidden } from '../errors.ts';
import type { TenantId } from '../log/route.ts';
import type { Actor } from '../tenants/audit.ts';
import type { CredentialRecord, Credentials, FoundCredential, PanelRecord } from '../tenants/directory.ts';
import { iso, isoOrNull } from '../time/time.ts';
import { includesRole, type Principal } from './access.ts';
import { type MintedSecret, mintSecret } from './secrets.ts';

export interface NewCredential {
  readonly record: CredentialRecord;
  /** The complete token or key, which is shown once. */
  readonly text: string;
}

/** @throws AppError `bad-request` for an expiry in the past, an invalid allow-list, or scopes with which it has no panel, or must not be in a URL. */
export function newToken(tenant: TenantId, wanted: TokenCreate, by: Actor, at: number): NewCredential {
  const minted = mintSecret('token');
  const { rate = null, allowInUrl = false, panelId = null } = wanted;
  const record = {
    ...base(tenant, minted, wanted, by, at),
    kind: 'token',
    scopes: chosenScopes(wanted.scopes),
    ...{ rate, allowInUrl, panelId },
  } as const;
  assertMayAllowInUrl(record);
  assertMayBeForPanel(record);
  return { record, text: minted.text };
}

/** @throws AppError `bad-request` as {@link newToken}. */
export function newKey(tenant: TenantId, wanted: KeyCreate, by: Actor, at: number): NewCredential {
  const minted = mintSecret('key');
  return {
    record: { ...base(tenant, minted, wanted, by, at), kind: 'key', role: wanted.role },
    text: minted.text,
  };
}

/** The token that a screen gets by pairing: the scope `panel`, for its own panel only. */
export function newPanelToken(
  tenant: TenantId,
  panel: Pick<PanelRecord, 'id' | 'name'>,
  by: Actor,
  at: number,
): NewCredential {
  const wanted: TokenCreate = { name: `panel ${panel.name}`, scopes: ['panel'], panelId: panel.id };
  return newToken(tenant, wanted, by, at);
}

/** @throws AppError `bad-request` as {@link newToken}. */
export function tokenChange(patch: TokenPatch, now: number): Parameters<Credentials['update']>[3] {
  return {
    ...(patch.name !== undefined && { name: patch.name.trim() }),
    ...(patch.scopes !== undefined && { scopes: chosenScopes(patch.scopes) }),
    ...(patch.rate !== undefined && { rate: patch.rate }),
    ...(patch.expiresAt !== undefined && { expiresAt: expiry(patch.expiresAt, now) }),
    ...(patch.allowFrom !== undefined && { allowFrom: allowList(patch.allowFrom) }),
    ...(patch.allowInUrl !== undefined && { allowInUrl: patch.allowInUrl }),
  };
}

export function principalOf(record: FoundCredential): Principal {
  const { tenant, id, name, tenantState } = record;
  const common = { tenant, id, name, ...(tenantState === 'suspended' && { isSuspended: true as const }) };
  if (record.kind === 'key') return { kind: 'key', ...common, role: record.role ?? 'viewer' };
  return {
    kind: 'token',
    ...common,
    scopes: record.scopes,
    rate: record.rate,
    panelId: record.panelId,
    allowInUrl: record.allowInUrl,
  };
}

/** @throws AppError `bad-request` for a token that may be in a URL and has other scopes than `notify`. */
export function assertMayAllowInUrl({
  allowInUrl,
  scopes,
}: Pick<CredentialRecord, 'allowInUrl' | 'scopes'>): void {
  const isForNotify = scopes.length === 1 && scopes[0] === 'notify';
  if (allowInUrl && !isForNotify)
    throw badField(
      'allowInUrl',
      `only a token with the scope notify alone may be in a URL, not one with ${scopes.join(', ')}`,
    );
}

/** @throws AppError `bad-request` for a token that is for one panel and has other scopes than `panel`. */
export function assertMayBeForPanel({ panelId, scopes }: Pick<CredentialRecord, 'panelId' | 'scopes'>): void {
  if (panelId !== null && String(scopes) !== 'panel')
    throw badField('panelId', 'only a token with the scope panel alone may be for one panel');
}

/** A principal may create and revoke only keys with roles that it may grant. @throws AppError `forbidden`. */
export function assertMayGrantRole(principal: Principal, role: Role | null): void {
  const own = principal.kind === 'token' ? undefined : principal.role;
  if (own === undefined || !includesRole(own, role ?? 'owner')) throw forbidden();
}

/**
 * The requested key, within the limits of the key that creates it; it inherits what the request leaves out.
 * @throws AppError `forbidden` for a key that would outlive its creator, or be valid from more addresses.
 */
export function withinCreator(wanted: KeyCreate, creator: CredentialRecord | undefined): KeyCreate {
  if (!creator) return wanted;
  const { expiresAt, allowFrom } = creator;
  const latest = isoOrNull(expiresAt);
  const own = wanted.expiresAt === undefined ? latest : wanted.expiresAt;
  if (latest !== null && (own === null || Date.parse(own) > Date.parse(latest)))
    throw forbidden(`expiresAt must be ${latest} at the latest: a key makes none that outlives it`);
  const addresses = wanted.allowFrom ?? [...allowFrom];
  if (allowFrom.length > 0 && !isWithin(allowList(addresses), allowFrom))
    throw forbidden(
      `allowFrom must lie within ${allowFrom.join(', ')}: a key makes none that is good from more addresses`,
    );
  return { ...wanted, expiresAt: own, allowFrom: addresses };
}

/** Whether there is at least one `inner` network and each lies within one of `outer`. */
function isWithin(inner: readonly string[], outer: readonly string[]): boolean {
  const allowed = outer.map(parseAddressRange);
  const isAllowed = (range: AddressRange) => allowed.some((each) => containsRange(each, range));
  return inner.length > 0 && inner.map(parseAddressRange).every(isAllowed);
}

export function tokenView(record: CredentialRecord): Token {
  const { scopes, rate, panelId, allowInUrl } = record;
  return { ...commonView(record), scopes: [...scopes], rate, panelId, allowInUrl };
}

export function keyView(record: CredentialRecord): Key {
  return { ...commonView(record), role: record.role ?? 'viewer' };
}

function commonView(record: CredentialRecord): Omit<Key, 'role'> {
  return {
    id: record.id,
    name: record.name,
    createdAt: iso(record.createdAt),
    createdBy: record.createdBy,
    lastUsedAt: isoOrNull(record.lastUsedAt),
    lastUsedFrom: record.lastUsedFrom,
    expiresAt: isoOrNull(record.expiresAt),
    allowFrom: [...record.allowFrom],
    revokedAt: isoOrNull(record.revokedAt),
  };
}

function base(
  tenant: TenantId,
  { id, hash }: MintedSecret,
  { name, expiresAt = null, allowFrom = [] }: Pick<KeyCreate, 'name' | 'expiresAt' | 'allowFrom'>,
  createdBy: Actor,
  createdAt: number,
): Omit<CredentialRecord, 'kind'> {
  return {
    tenant,
    id,
    hash,
    name: name.trim(),
    scopes: [],
    rate: null,
    panelId: null,
    role: null,
    allowFrom: allowList(allowFrom),
    allowInUrl: false,
    createdAt,
    createdBy,
    lastUsedAt: null,
    lastUsedFrom: null,
    expiresAt: expiry(expiresAt, createdAt),
    revokedAt: null,
  };
}

/** The chosen scopes in the order of the contract; all scopes when none is chosen. */
function chosenScopes(chosen: TokenCreate['scopes']): CredentialRecord['scopes'] {
  return scopes.filter((scope) => !chosen?.length || chosen.includes(scope));
}

function expiry(text: string | null, now: number): number | null {
  if (text === null) return null;
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw badRequest(`expiresAt: "${text}" is no time; write 2027-01-31T18:00:00Z`);
  if (at <= now) throw badRequest('expiresAt must be in the future; to end it now, revoke it');
  return at;
}

function allowList(entries: readonly string[]): string[] {
  return entries.map((entry, i) => {
    const network = canonicalNetwork(entry);
    if (network !== undefined) return network;
    throw badRequest(
      `allowFrom[${i}]: "${entry}" is no address or CIDR block; write 10.0.0.5, 10.0.0.0/8 or fd00::/8`,
    );
  });
}
