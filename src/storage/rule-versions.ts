/** `tenants.rules_revision` counts the changes of a tenant's rules, and dates their versions. */
import { type CompiledQuery, type Expression, type SqlBool, sql } from 'kysely';
import type { TenantId } from '#core/ports.ts';
import type { Builder } from './schema.ts';

/** Read where it is used, inside the transaction. */
export function currentRevision(tenant: TenantId): Expression<number> {
  return sql<number>`(select rules_revision from tenants where tenants.id = ${tenant})`;
}

export function bumpRevision(db: Builder, tenant: TenantId, when: Expression<SqlBool>): CompiledQuery {
  return sql`update tenants set rules_revision = rules_revision + 1 where id = ${tenant} and ${when}`.compile(
    db,
  );
}

/** Ends the versions in force with the current revision. */
export function endVersion(
  db: Builder,
  tenant: TenantId,
  ids: readonly string[],
  when: Expression<SqlBool>,
): CompiledQuery {
  return sql`update rules set until = ${currentRevision(tenant)}
    where tenant = ${tenant} and id in (${sql.join(ids)}) and until is null and ${when}`.compile(db);
}
