import { type Expression, type SqlBool, sql } from 'kysely';
import type { AuditEntry } from '#contract/audit.ts';
import type { AuditLog, AuditQuery } from '#core/audit.ts';
import type { TenantId } from '#core/ports.ts';
import type { AuditRow, Builder } from './schema.ts';
import type { SqlExecutor } from './sql.ts';

const sweepSlice = 500;

export function createAuditLog(db: Builder, executor: SqlExecutor): AuditLog {
  return {
    async page(query) {
      const rows = await executor.read(auditPage(db, query), query.tenant);
      return { entries: rows.slice(0, query.limit).map(toEntry), more: rows.length > query.limit };
    },

    async sweep(at) {
      const bound = firstIdAt(at);
      // One row of each tenant's end of the primary key is looked at: there is no index by time, and no need for one.
      const tenants = await executor.read(
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
          )
          .compile(),
      );
      let dropped = 0;
      for (const { id: tenant } of tenants) {
        const some = db
          .selectFrom('audit')
          .select('id')
          .where('tenant', '=', tenant)
          .where('id', '<', bound)
          .orderBy('id')
          .limit(sweepSlice);
        const [result] = await executor.write(
          [db.deleteFrom('audit').where('tenant', '=', tenant).where('id', 'in', some).compile()],
          tenant,
        );
        dropped += result?.changes ?? 0;
      }
      return dropped;
    },
  };
}

/** Reads one row more than the limit, which shows that there is a next page. Exported for the test of its query plan. */
export function auditPage(db: Builder, { tenant, limit, before, action, by, subject }: AuditQuery) {
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
  return query.compile();
}

const mostDeletions = 1_000;

/** What was deleted, the last first. Exported for the directory of what there is, and for the test that looks at its plan. */
export function deletions(db: Builder, tenant: TenantId, action: 'level.delete' | 'panel.delete') {
  return (
    db
      .selectFrom('audit')
      .select(['subject', 'detail', 'at'])
      .where('tenant', '=', tenant)
      .where('action', '=', action)
      // As the index has it, which holds nothing else.
      .where(sql<SqlBool>`action in ('level.delete', 'panel.delete')`)
      .orderBy('at', 'desc')
      .limit(mostDeletions)
      .compile()
  );
}

function isOf(action: string): Expression<SqlBool> {
  const kind = `${action}.`;
  return sql<SqlBool>`(action = ${action} or substr(action, 1, ${kind.length}) = ${kind})`;
}

/** UUIDv7 begins with the time, and its text sorts as it does. */
function firstIdAt(at: number): string {
  const time = Math.max(0, at).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

function toEntry({ id, at, by, action, subject, detail }: AuditRow): AuditEntry {
  return {
    id,
    at: new Date(at).toISOString(),
    by,
    action,
    subject,
    detail: JSON.parse(detail) as Record<string, unknown>,
  };
}
