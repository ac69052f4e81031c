/** Who changed what of a tenant's configuration, and when. Written with every change; see storage/change.ts. */
import type { AuditEntry } from '#contract/audit.ts';
import type { TenantId } from './ports.ts';

/** Who changes something, for the audit log: "key deploy", "cli", a person's e-mail. */
export type Actor = string;

/** A leap year: a yearly review finds the whole of the last one. */
const auditRetentionMs = 366 * 86_400_000;

export interface AuditQuery {
  readonly tenant: TenantId;
  readonly limit: number;
  /** The id of an entry: only older ones. */
  readonly before?: string | undefined;
  /** One action, as in `rule.update`, or all of a kind, as in `rule`. */
  readonly action?: string | undefined;
  readonly by?: string | undefined;
  readonly subject?: string | undefined;
}

export interface AuditLog {
  /** The newest first; `more`: there are older ones that fit. */
  page(query: AuditQuery): Promise<{ readonly entries: readonly AuditEntry[]; readonly more: boolean }>;
  /** Drops some of the entries written before `at`; answers how many. Call again at once while it answers any. */
  sweep(at: number): Promise<number>;
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
