import { type Expression, type SqlBool, sql } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { AuditAction, AuditDetail, AuditEntry } from '#contract/people/audit.ts';
import { isPlainObject } from '#contract/plain-object.ts';
import type { TenantId } from '#core/log/route.ts';
import type { Actor, AuditLog, AuditQuery } from '#core/tenants/audit.ts';
import { iso } from '#core/time/time.ts';
import type { AuditRow, Database, Statement } from '../database/sql.ts';

/** One line of the audit log: who did what to what, and when. */
export interface NewAuditEntry {
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
export function auditMark(entry: NewAuditEntry, when: Expression<SqlBool>): AuditMark {
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

const sweepSlice = 500;
const sizeSlice = 1_000;
/** What an entry takes beside its detail, about. */
const entryBytes = 200;

export function createAuditLog(db: Database): AuditLog {
  const dropBefore = async (tenant: TenantId, id: string) => {
    const some = db
      .selectFrom('audit')
      .select('id')
      .where('tenant', '=', tenant)
      .where('id', '<', id)
      .orderBy('id')
      .limit(sweepSlice);
    const [result] = await db.write(
      [db.deleteFrom('audit').where('tenant', '=', tenant).where('id', 'in', some)],
      tenant,
    );
    return result?.changes ?? 0;
  };

  return {
    async add(tenant, entry) {
      await db.write([auditMark({ tenant, ...entry }, sql<SqlBool>`1 = 1`).insert], tenant);
    },

    dropBefore,

    newest: () =>
      db.read(sql<{ tenant: TenantId; id: string | null }>`select tenants.id as tenant,
        (select max(audit.id) from audit where audit.tenant = tenants.id) as id from tenants`),

    async oldestWithin(tenant, bytes) {
      let [left, oldest]: [number, string | undefined] = [bytes, undefined];
      for (;;) {
        const rows: readonly { id: string; size: number }[] = await db.read(
          sql<{ id: string; size: number }>`select id, octet_length(detail) as size from audit
            where tenant = ${tenant} and ${oldest === undefined ? sql`1 = 1` : sql`id < ${oldest}`}
            order by id desc limit ${sizeSlice}`,
          tenant,
        );
        for (const { id, size } of rows) {
          left -= size + entryBytes;
          if (left < 0) return oldest;
          oldest = id;
        }
        if (rows.length < sizeSlice) return undefined;
      }
    },

    async page(query) {
      const rows = await db.read(auditPage(db, query), query.tenant);
      return { entries: rows.slice(0, query.limit).map(toEntry), more: rows.length > query.limit };
    },

    async sweep(at) {
      const bound = firstIdAt(at);
      // Reads the first row of each tenant in the primary key, so an index by time is not needed.
      const tenants = await db.read(
        db
          .selectFrom('tenants')
          .select('id')
          .where((eb) =>
            eb.exists(
              eb
                .selectFrom('audit')
                .select('audit.id')
                .whereRef('audit.tenant', '=', 'tenants.id')
                .where('audit.id', '<', bound),
            ),
          ),
      );
      let dropped = 0;
      for (const { id: tenant } of tenants) dropped += await dropBefore(tenant, bound);
      return dropped;
    },
  };
}

/** Reads one row more than the limit, which shows that there is a next page. Exported for the test of its query plan. */
export function auditPage(db: Database, { tenant, limit, before, action, by, subject }: AuditQuery) {
  let query = db
    .selectFrom('audit')
    .selectAll()
    .where('tenant', '=', tenant)
    .orderBy('id', 'desc')
    .limit(limit + 1);
  if (before !== undefined) query = query.where('id', '<', before);
  if (action !== undefined) query = query.where(isOf(action));
  if (by !== undefined) query = query.where('by', '=', by);
  if (subject !== undefined) query = query.where('subject', '=', subject);
  return query;
}

const mostDeletions = 1_000;

/** The deleted levels or panels, the last one first. Exported for levels and panels, and for the test of its query plan. */
export function deletions(db: Database, tenant: TenantId, action: 'level.delete' | 'panel.delete') {
  return (
    db
      .selectFrom('audit')
      .select(['subject', 'detail', 'at'])
      .where('tenant', '=', tenant)
      .where('action', '=', action)
      // The condition of the partial index, so that the database can use it.
      .where(sql<SqlBool>`action in ('level.delete', 'panel.delete')`)
      .orderBy('at', 'desc')
      .limit(mostDeletions)
  );
}

function isOf(action: string): Expression<SqlBool> {
  const kind = `${action}.`;
  return sql<SqlBool>`(action = ${action} or substr(action, 1, ${kind.length}) = ${kind})`;
}

/** A UUIDv7 begins with the time, so ids sort by time, as text too. */
function firstIdAt(at: number): string {
  const time = Math.max(0, at).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

function toEntry({ id, at, by, action, subject, detail }: AuditRow): AuditEntry {
  return {
    id,
    at: iso(at),
    by,
    action,
    subject,
    detail: JSON.parse(detail) as Record<string, unknown>,
  };
}
