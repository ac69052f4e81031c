import type { CompiledQuery, Expression, SqlBool } from 'kysely';
import { type Role, roles } from '#contract/token.ts';
import type { Actor } from '#core/audit.ts';
import type { TenantId } from '#core/ports.ts';
import type { Builder } from './schema.ts';

/**
 * Withdraws the pending invitations created by `by`, except those to a role in `keeps`. Called when a member or key loses the
 * right to grant the other roles.
 */
export function withdrawnOf(
  db: Builder,
  { tenant, by, at, keeps }: { tenant: TenantId; by: Actor; at: number; keeps: readonly Role[] },
  guard: Expression<SqlBool>,
): CompiledQuery[] {
  const lost = roles.filter((role) => !keeps.includes(role));
  if (lost.length === 0) return [];
  return [
    db
      .updateTable('invitations')
      .set({ withdrawn_at: at })
      .where('tenant', '=', tenant)
      .where('created_by', '=', by)
      .where('role', 'in', lost)
      .where('accepted_at', 'is', null)
      .where('withdrawn_at', 'is', null)
      .where(guard)
      .compile(),
  ];
}
