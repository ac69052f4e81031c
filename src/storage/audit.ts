import { type CompiledQuery, type Expression, type SqlBool, sql } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { Actor } from '#core/audit.ts';
import type { TenantId } from '#core/ports.ts';
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
  /** What a reader wants to know of it; never a secret or a hash. Long values are cut: see {@link shortened}. */
  readonly detail: Fields;
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
    select tenants.id, ${id}, ${at}, ${by}, ${action}, ${subject}, ${JSON.stringify(shortened(detail))}
    from tenants where tenants.id = ${tenant} and ${when}`.compile(db);
  const written = sql<SqlBool>`exists (select 1 from audit where audit.tenant = ${tenant} and audit.id = ${id})`;
  return { insert, written };
}

type Fields = Readonly<Record<string, unknown>>;
type Difference = { readonly before: Fields; readonly after: Fields };

/** What an update changes, field by field; undefined when it changes nothing. A field that is undefined keeps its value. */
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

/** A rule may be of 128 KiB: of a value that is written longer than 2,000 characters, the beginning of its JSON is kept. */
function shortened(detail: Fields): Record<string, unknown> {
  const short = ([field, value]: [string, unknown]): [string, unknown] => {
    if ((field === 'before' || field === 'after') && isPlainObject(value)) return [field, shortened(value)];
    const text = JSON.stringify(value) ?? 'null';
    return [field, text.length > longestValue ? `${text.slice(0, longestValue)}…` : value];
  };
  return Object.fromEntries(Object.entries(detail).map(short));
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
