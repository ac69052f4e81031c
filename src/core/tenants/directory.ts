/** The directory: a tenant's tokens, keys, rules, levels, panels and members. The port that storage implements. */
import type { SavedSearch, SavedSearchPut } from '#contract/history/search.ts';
import type { Mapping, MappingPut } from '#contract/integrations/integration.ts';
import type { DisplaySettings, PanelCommand, PanelKind } from '#contract/panels/panel.ts';
import type { Role, Scope } from '#contract/people/token.ts';
import type { Level, LevelPut } from '#contract/routing/level.ts';
import type { RuleSpec } from '#contract/routing/rule.ts';
import type { AnswerProblems, Channels, PushDevices } from '../channels/channels.ts';
import type { Ref, TenantId } from '../log/route.ts';
import type { OnCallSchedules } from '../on-call/on-call.ts';
import type { Principal } from '../people/access.ts';
import type { Invitations, Members } from '../people/members.ts';
import type { DeletedPanel } from '../search/search-terms.ts';
import type { Actor, AuditLog } from './audit.ts';
import type { RateSetting, TenantState, Tenants } from './tenants.ts';

export interface CredentialRecord {
  readonly tenant: TenantId;
  /** The public part of the secret. */
  readonly id: string;
  readonly kind: 'token' | 'key';
  readonly name: string;
  /** SHA-256 of the secret part, base64url. */
  readonly hash: string;
  /** For tokens. */
  readonly scopes: readonly Scope[];
  readonly rate: RateSetting;
  readonly panelId: string | null;
  /** For keys. */
  readonly role: Role | null;
  readonly allowFrom: readonly string[];
  /** For tokens with the scope notify alone: it may be the parameter `token` of a URL. */
  readonly allowInUrl: boolean;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly lastUsedAt: number | null;
  readonly lastUsedFrom: string | null;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

/** A credential as a request finds it, with whether its tenant may act. */
export interface FoundCredential extends CredentialRecord {
  readonly tenantState: TenantState;
}

export interface RuleRecord extends RuleSpec {
  readonly hits: number;
  readonly lastHitAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface RuleSet {
  /** Grows with every change to the tenant's rules. */
  readonly revision: number;
  readonly rules: readonly RuleSpec[];
}

/** The screen that shows a panel: the client it reports, as in panel/0.9.0, and its address. */
export interface Screen {
  readonly client: string | null;
  readonly address: string | null;
}

export interface PanelRecord extends Screen {
  readonly id: string;
  readonly name: string;
  readonly kind: PanelKind;
  /** Its name in the addresses of ntfy, unique in the tenant; it never changes (topics.ts). */
  readonly topic: string;
  readonly tags: readonly string[];
  readonly location: string | null;
  readonly display: DisplaySettings;
  readonly createdAt: number;
  readonly lastSeenAt: number | null;
  /** The position up to which it was last sent its entries; null when it never connected. */
  readonly cursor: number | null;
}

export interface Pairing {
  readonly code: string;
  readonly secretHash: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Set by approval. */
  readonly tenant: TenantId | null;
  readonly panelId: string | null;
  readonly approvedBy: string | null;
  readonly collectedAt: number | null;
}

export interface Credentials {
  /** @throws AppError `forbidden` when `creator` is no longer authorized. */
  add(record: CredentialRecord, creator?: Principal): Promise<void>;
  /** By the public id alone: this is how a request finds its tenant. */
  find(id: string): Promise<FoundCredential | undefined>;
  list(tenant: TenantId, kind: 'token' | 'key'): Promise<readonly CredentialRecord[]>;
  update(
    tenant: TenantId,
    kind: 'token' | 'key',
    id: string,
    patch: Partial<
      Pick<CredentialRecord, 'name' | 'scopes' | 'rate' | 'expiresAt' | 'allowFrom' | 'allowInUrl'>
    >,
    by: Actor,
    at: number,
  ): Promise<CredentialRecord | undefined>;
  /** Answers undefined when there is none; a second revocation keeps the first time. */
  revoke(
    tenant: TenantId,
    kind: 'token' | 'key',
    id: string,
    by: Actor,
    at: number,
  ): Promise<CredentialRecord | undefined>;
  /** Deletes the records that ended first, where there are more ended ones of a kind than may be in force. */
  forgetEnded(tenant: TenantId, at: number): Promise<void>;
  /** Writes last uses, in bulk; this is no change of configuration. */
  touch(
    uses: readonly {
      readonly tenant: TenantId;
      readonly id: string;
      readonly at: number;
      readonly from: string;
    }[],
  ): Promise<void>;
}

export interface Rules {
  /** Former names of rules: those of deleted and of renamed rules, if a version with the name is still stored. */
  formerNames(tenant: TenantId): Promise<readonly Ref[]>;
  list(tenant: TenantId): Promise<readonly RuleRecord[]>;
  /** The set in force. */
  set(tenant: TenantId): Promise<RuleSet>;
  /** The set that was in force at `revision`; undefined when its versions are deleted. */
  setAt(tenant: TenantId, revision: number): Promise<RuleSet | undefined>;
  /** Inserts at `position`, counted from 1; at the end when that is missing or too large. */
  create(tenant: TenantId, spec: RuleSpec, by: Actor, at: number, position?: number): Promise<RuleRecord>;
  /** undefined when there is no such rule, or, given `revision`, when it has changed since the set of that revision. */
  update(
    tenant: TenantId,
    spec: RuleSpec,
    by: Actor,
    at: number,
    revision?: number,
  ): Promise<RuleRecord | undefined>;
  remove(tenant: TenantId, id: string, by: Actor, at: number): Promise<boolean>;
  /** `ids` names every rule once; false when it does not. */
  order(tenant: TenantId, ids: readonly string[], by: Actor, at: number): Promise<boolean>;
  /** Deletes versions that were no longer in force at `revision`; earlier sets cannot be read any more. */
  prune(tenant: TenantId, revision: number): Promise<void>;
  /** Adds to hit counts, in bulk. */
  hit(
    tenant: TenantId,
    hits: readonly { readonly id: string; readonly count: number; readonly at: number }[],
  ): Promise<void>;
}

export interface Levels {
  /** Levels that were deleted, each once with its last rank, the last first, as far as the last 1,000 deletions in the audit log go. */
  deleted(tenant: TenantId): Promise<readonly { readonly name: string; readonly rank: number }[]>;
  /** Built-in ones first, then by name. */
  list(tenant: TenantId): Promise<readonly Level[]>;
  /** Creates a custom level with the rank and look of info, unless it exists; false when the tenant has the maximum. */
  register(tenant: TenantId, name: string, by: Actor, at: number): Promise<boolean>;
  /** Omitted fields keep their value; undefined when the level is new and the tenant has the maximum. */
  put(tenant: TenantId, name: string, style: LevelPut, by: Actor, at: number): Promise<Level | undefined>;
  /**
   * false when there is no such custom level; undefined when a panel's `minLevel` names it, or, given `revision`, when the
   * rules are no longer those of that revision.
   */
  remove(
    tenant: TenantId,
    name: string,
    by: Actor,
    at: number,
    revision?: number,
  ): Promise<boolean | undefined>;
}

export interface Panels {
  /** Panels that were deleted, the last first, as far as the audit log goes back: at most 1,000. */
  deleted(tenant: TenantId): Promise<readonly DeletedPanel[]>;
  list(tenant: TenantId): Promise<readonly PanelRecord[]>;
  find(tenant: TenantId, id: string): Promise<PanelRecord | undefined>;
  /**
   * The panel of that name, created if there is none; undefined if the tenant has the most panels allowed, or another panel has the given
   * topic. Without a topic, a new panel gets one that is made of its name.
   */
  register(
    tenant: TenantId,
    panel: {
      readonly id: string;
      readonly name: string;
      readonly tags: readonly string[];
      readonly location: string | null;
      readonly kind?: PanelKind;
      readonly topic?: string;
    },
    by: Actor,
    at: number,
  ): Promise<{ readonly panel: PanelRecord; readonly created: boolean } | undefined>;
  /** @throws AppError `conflict` when the new name is another panel's, or the level that `minLevel` names is gone. */
  update(
    tenant: TenantId,
    id: string,
    patch: Partial<Pick<PanelRecord, 'name' | 'kind' | 'tags' | 'location' | 'display'>>,
    by: Actor,
    at: number,
  ): Promise<PanelRecord | undefined>;
  remove(tenant: TenantId, id: string, by: Actor, at: number): Promise<boolean>;
  /** Gives a topic to each panel of all tenants that has none: those from before there were topics. */
  nameTopics(): Promise<void>;
  /** Writes a command to a panel into the audit log; false if there is no such panel. */
  noteCommand(tenant: TenantId, id: string, command: PanelCommand, by: Actor, at: number): Promise<boolean>;
  /** Writes last contacts and cursors, in bulk. */
  touch(
    seen: readonly (Screen & {
      readonly tenant: TenantId;
      readonly id: string;
      readonly at: number;
      readonly cursor: number;
    })[],
  ): Promise<void>;
}

export interface Pairings {
  /** False when that code is waiting already. */
  open(pairing: Pick<Pairing, 'code' | 'secretHash' | 'createdAt' | 'expiresAt'>): Promise<boolean>;
  findBySecret(secretHash: string): Promise<Pairing | undefined>;
  /** Whether a screen waits with this code and is not approved yet. */
  isWaiting(code: string, at: number): Promise<boolean>;
  /** False when no such code is waiting at `at`, or when `approver` is no longer authorized. */
  approve(
    code: string,
    tenant: TenantId,
    panelId: string,
    by: Actor,
    at: number,
    approver?: Principal,
  ): Promise<boolean>;
  /** Marks it collected; true for the one caller that did. */
  collect(secretHash: string, at: number): Promise<boolean>;
  sweep(expiredBefore: number): Promise<void>;
}

export interface SavedSearches {
  list(tenant: TenantId): Promise<readonly SavedSearch[]>;
  /** @throws AppError `conflict` when the name is taken or there are 200 already. */
  add(tenant: TenantId, search: SavedSearch, by: Actor, at: number): Promise<void>;
  /** undefined when there is none of this id. @throws AppError `conflict` when the name is another one's. */
  update(
    tenant: TenantId,
    id: string,
    wanted: SavedSearchPut,
    by: Actor,
    at: number,
  ): Promise<SavedSearch | undefined>;
  remove(tenant: TenantId, id: string, by: Actor, at: number): Promise<boolean>;
}

export interface Mappings {
  /** By name. */
  list(tenant: TenantId): Promise<readonly Mapping[]>;
  /** Creates or replaces. @throws AppError `conflict` when there are 100 already. */
  put(tenant: TenantId, name: string, wanted: MappingPut, by: Actor, at: number): Promise<Mapping>;
  remove(tenant: TenantId, name: string, by: Actor, at: number): Promise<boolean>;
}

export interface Changes {
  /** The installation's epoch: a restore changes it, because changes may be lost and revisions used again. */
  readonly epoch: string;
  readonly revision: number;
  readonly tenants: readonly TenantId[];
}

export interface Directory {
  readonly tenants: Tenants;
  readonly credentials: Credentials;
  readonly rules: Rules;
  readonly levels: Levels;
  readonly panels: Panels;
  readonly pairings: Pairings;
  readonly savedSearches: SavedSearches;
  readonly mappings: Mappings;
  readonly channels: Channels;
  readonly pushDevices: PushDevices;
  readonly answerProblems: AnswerProblems;
  readonly onCall: OnCallSchedules;
  readonly members: Members;
  readonly invitations: Invitations;
  readonly auditLog: AuditLog;
  /** Tenants whose configuration any process changed after `revision`. Pass the returned revision to the next call. */
  changedSince(revision: number): Promise<Changes>;
}
