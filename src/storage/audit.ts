import { type CompiledQuery, type Expression, type SqlBool, sql } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { Actor } from '../core/directory.ts';
import type { TenantId } from '../core/ports.ts';
import type { Builder } from './schema.ts';

/** One line of the audit log: who did what to what, and when. */
export interface AuditEntry {
  readonly tenant: TenantId;
  readonly by: Actor;
  readonly at: number;
  /** As in "rule.update". */
  readonly action: string;
  /** The id (or name, where that is the id) of what was changed. */
  readonly subject: string;
  /** What a reader wants to know of it; never a secret or a hash. */
  readonly detail: Readonly<Record<string, unknown>>;
}

/** An audit row to be written, and the condition that it was. */
export interface AuditMark {
  readonly insert: CompiledQuery;
  /** Holds in the statements after `insert` when `insert` wrote its row. */
  readonly written: Expression<SqlBool>;
}

/** Writes the entry if the tenant exists and `when` holds. */
export function auditMark(db: Builder, entry: AuditEntry, when: Expression<SqlBool>): AuditMark {
  const { tenant, by, at, action, subject, detail } = entry;
  const id = uuidv7();
  const insert = sql`insert into audit (tenant, id, at, "by", action, subject, detail)
    select tenants.id, ${id}, ${at}, ${by}, ${action}, ${subject}, ${JSON.stringify(detail)}
    from tenants where tenants.id = ${tenant} and ${when}`.compile(db);
  const written = sql<SqlBool>`exists (select 1 from audit where audit.tenant = ${tenant} and audit.id = ${id})`;
  return { insert, written };
}
