/** The audit log: who changed which configuration of a tenant, and when. Each change writes its entry; see storage/directory/change.ts. */
import { limits } from '#contract/limits.ts';
import type { AuditAction, AuditDetail, AuditEntry } from '#contract/people/audit.ts';
import type { TenantId } from '../log/route.ts';

/** Who changes something, for the audit log: "key deploy", "cli", a person's email. */
export type Actor = string;

/** A leap year, so that a yearly review finds all of the previous year. */
const auditRetentionMs = 366 * 86_400_000;

export interface AuditQuery {
  readonly tenant: TenantId;
  readonly limit: number;
  /** Only entries older than the one with this id. */
  readonly before?: string | undefined;
  /** One action, as in `rule.update`, or all of a kind, as in `rule`. */
  readonly action?: string | undefined;
  readonly by?: string | undefined;
  readonly subject?: string | undefined;
}

export interface AuditLog {
  /** Writes an entry about what is no configuration. */
  add(
    tenant: TenantId,
    entry: {
      readonly by: Actor;
      readonly at: number;
      readonly action: AuditAction;
      readonly subject: string;
      readonly detail: AuditDetail;
    },
  ): Promise<void>;
  /** Newest first. `more`: there are older entries that match. */
  page(query: AuditQuery): Promise<{ readonly entries: readonly AuditEntry[]; readonly more: boolean }>;
  /** Deletes a batch of the entries written before `at`; returns how many. Call it again until it returns 0. */
  sweep(at: number): Promise<number>;
  /** The newest entry of each tenant; null without one. */
  newest(): Promise<readonly { readonly tenant: TenantId; readonly id: string | null }[]>;
  /** The id of the oldest entry that fits into `bytes`, counted from the newest; undefined when all entries fit. */
  oldestWithin(tenant: TenantId, bytes: number): Promise<string | undefined>;
  /** Deletes a batch of the entries before this id; returns how many. */
  dropBefore(tenant: TenantId, id: string): Promise<number>;
}

const pauseMs = 20;

/** Deletes audit entries older than the retention time. Resolves when there are no more, or once `stopped`. */
export async function forgetAudit(
  auditLog: Pick<AuditLog, 'sweep'>,
  now: number,
  stopped: () => boolean,
): Promise<void> {
  while (!stopped() && (await auditLog.sweep(now - auditRetentionMs)) > 0)
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
}

/** Deletes the oldest audit entries of a tenant that has more than fits, and stops when `stopped`. */
export async function boundAudit(
  auditLog: Pick<AuditLog, 'oldestWithin' | 'dropBefore'>,
  tenant: TenantId,
  stopped: () => boolean,
  bytes: number = limits.auditBytesPerTenant,
): Promise<void> {
  const oldest = await auditLog.oldestWithin(tenant, bytes);
  while (oldest !== undefined && !stopped() && (await auditLog.dropBefore(tenant, oldest)) > 0)
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
}
