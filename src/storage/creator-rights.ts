/** Keys and pending invitations end when their creator may no longer grant their role. */
import { type CompiledQuery, type Expression, type SqlBool, sql } from 'kysely';
import { type Role, roles } from '#contract/token.ts';
import type { Principal } from '#core/access.ts';
import type { TenantId } from '#core/ports.ts';
import { always, precondition } from './change.ts';
import type { Builder } from './schema.ts';

/**
 * SQL: the creator is still a signed-in member with the same role, or a valid credential. The transaction checks it, because
 * the request's body may arrive long after its head was authorized. Without a creator (the server itself) it is always true.
 */
export function isCreatorAuthorized(creator: Principal | undefined, at: number): Expression<SqlBool> {
  if (!creator) return always;
  const { tenant, id } = creator;
  if (creator.kind === 'person')
    return sql<SqlBool>`${precondition('members', { tenant, person: id, role: creator.role })}
      and ${precondition('sessions', { id: creator.sessionId, person: id })}`;
  return sql<SqlBool>`exists (select 1 from credentials where tenant = ${tenant} and id = ${id} and kind = ${creator.kind}
    and revoked_at is null and (expires_at is null or expires_at > ${at}))`;
}

interface CreatorChange {
  readonly tenant: TenantId;
  /** The id of the person or key; the column `maker` holds it. */
  readonly creator: string;
  readonly at: number;
  /** The roles that the creator may still grant. */
  readonly keeps: readonly Role[];
}

/** The valid keys created by the creator or by these keys in turn, whose role the creator may no longer grant. */
export function keysToRevoke(
  db: Builder,
  change: CreatorChange,
): CompiledQuery<{ readonly id: string; readonly name: string }> {
  return sql<{ id: string; name: string }>`${keysCreatedBy(change)}
    select id, name from credentials where ${hasLostRole(change)} order by created_at, id`.compile(db);
}

/** Revokes {@link keysToRevoke}, and withdraws the pending invitations that these keys created. */
export function revokeCreatedKeys(
  db: Builder,
  change: CreatorChange,
  guard: Expression<SqlBool>,
): CompiledQuery[] {
  const { tenant, at } = change;
  return [
    sql`${keysCreatedBy(change)} update credentials set revoked_at = ${at} where ${hasLostRole(change)} and ${guard}`.compile(
      db,
    ),
    sql`update invitations set withdrawn_at = ${at}
      where tenant = ${tenant} and accepted_at is null and withdrawn_at is null and ${guard} and created_by in (
        select 'key ' || name from credentials where tenant = ${tenant} and kind = 'key' and revoked_at = ${at})`.compile(
      db,
    ),
  ];
}

function keysCreatedBy({ tenant, creator }: CreatorChange) {
  return sql`with recursive created (id) as (
    select id from credentials where tenant = ${tenant} and kind = 'key' and maker = ${creator}
    union select credentials.id from credentials join created on credentials.maker = created.id
      where credentials.tenant = ${tenant} and credentials.kind = 'key')`;
}

function hasLostRole({ tenant, keeps }: CreatorChange) {
  const lost = roles.filter((role) => !keeps.includes(role));
  return lost.length === 0
    ? sql`1 = 0`
    : sql`tenant = ${tenant} and id in (select id from created) and revoked_at is null and role in (${sql.join(lost)})`;
}
