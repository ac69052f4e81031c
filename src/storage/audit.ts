import { type Expression, type SqlBool, sql } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { AuditAction, AuditDetail } from '#contract/people/audit-words.ts';
import { isPlainObject } from '#contract/plain-object.ts';
import type { TenantId } from '#core/ports.ts';
import type { Actor } from '#core/tenants/audit.ts';
import type { Statement } from './sql.ts';

/** One line of the audit log: who did what to what, and when. */
export interface AuditEntry {
  readonly tenant: TenantId;
  readonly by: Actor;
  readonly at: number;
  /** As in "rule.update". */
  readonly action: AuditAction;
  /** The id of the changed object (for some kinds, its name). */
  readonly subject: string;
  /** The details of the change; never a secret or a hash. Long values are cut: see {@link shortened}. */
  readonly detail: AuditDetail;
}

/** The statement that writes an audit row, and the condition that it was written. */
export interface AuditMark {
  readonly insert: Statement;
  /** True in the statements after `insert` if `insert` wrote its row. */
  readonly written: Expression<SqlBool>;
}

/** Writes the entry if the tenant exists and `when` holds. */
export function auditMark(entry: AuditEntry, when: Expression<SqlBool>): AuditMark {
  const { tenant, by, at, action, subject, detail } = entry;
  const id = uuidv7();
  const insert = sql`insert into audit (tenant, id, at, "by", action, subject, detail)
    select tenants.id, ${id}, ${at}, ${by}, ${action}, ${subject}, ${JSON.stringify(shortened(detail))}
    from tenants where tenants.id = ${tenant} and ${when}`;
  const written = sql<SqlBool>`exists (select 1 from audit where audit.tenant = ${tenant} and audit.id = ${id})`;
  return { insert, written };
}

type Fields = Readonly<Record<string, unknown>>;
type Difference = { readonly before: Fields; readonly after: Fields };

/** The fields that an update changes, before and after; undefined when it changes nothing. An undefined field keeps its value. */
export function difference(known: Fields, patch: Fields): Difference | undefined {
  const fields = Object.keys(patch).filter(
    (field) =>
      patch[field] !== undefined && JSON.stringify(patch[field]) !== JSON.stringify(known[field] ?? null),
  );
  if (fields.length === 0) return undefined;
  const pick = (from: Fields) => Object.fromEntries(fields.map((field) => [field, from[field] ?? null]));
  return { before: pick(known), after: pick(patch) };
}

const longestValue = 2_000;

/** Cuts the JSON of long values at 2,000 characters, because a rule may have 128 KiB. */
function shortened(detail: AuditDetail | Fields): Record<string, unknown> {
  const short = ([field, value]: [string, unknown]): [string, unknown] => {
    if ((field === 'before' || field === 'after') && isPlainObject(value)) return [field, shortened(value)];
    const text = JSON.stringify(value) ?? 'null';
    return [field, text.length > longestValue ? `${text.slice(0, longestValue)}…` : value];
  };
  return Object.fromEntries(Object.entries(detail).map(short));
}
