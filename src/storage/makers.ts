import { type CompiledQuery, type Expression, type SqlBool, sql } from 'kysely';
import { type Role, roles } from '#contract/token.ts';
import type { Principal } from '#core/access.ts';
import type { TenantId } from '#core/ports.ts';
import { always, precondition } from './change.ts';
import type { Builder } from './schema.ts';

/**
 * SQL: the creator is still a member with the same role, or their key is still valid. It is checked in the transaction, because the
 * body may arrive long after the head. Without a creator (the server itself) it is always true.
 */
export function stillMay(maker: Principal | undefined, at: number): Expression<SqlBool> {
  if (!maker) return always;
  const { tenant, id } = maker;
  if (maker.kind === 'person')
    return sql<SqlBool>`${precondition('members', { tenant, person: id, role: maker.role })}
      and ${precondition('sessions', { id: maker.sessionId, person: id })}`;
  return sql<SqlBool>`exists (select 1 from credentials where tenant = ${tenant} and id = ${id} and kind = ${maker.kind}
    and revoked_at is null and (expires_at is null or expires_at > ${at}))`;
}

interface MakerChange {
  readonly tenant: TenantId;
  /** The id of a person or key. */
  readonly maker: string;
  readonly at: number;
  /** The roles that the maker may still give. */
  readonly keeps: readonly Role[];
}

/** The keys of a maker that are in force, those that these keys made included, whose role the maker may not give any more. */
export function keysToRevoke(
  db: Builder,
  change: MakerChange,
): CompiledQuery<{ readonly id: string; readonly name: string }> {
  return sql<{ id: string; name: string }>`${keysMadeBy(change)}
    select id, name from credentials where ${isLost(change)} order by created_at, id`.compile(db);
}

/** A key ends with its maker's right: revokes {@link keysToRevoke}, and withdraws the invitations that these keys made. */
export function revokedKeysOf(db: Builder, change: MakerChange, guard: Expression<SqlBool>): CompiledQuery[] {
  const { tenant, at } = change;
  return [
    sql`${keysMadeBy(change)} update credentials set revoked_at = ${at} where ${isLost(change)} and ${guard}`.compile(
      db,
    ),
    sql`update invitations set withdrawn_at = ${at}
      where tenant = ${tenant} and accepted_at is null and withdrawn_at is null and ${guard} and created_by in (
        select 'key ' || name from credentials where tenant = ${tenant} and kind = 'key' and revoked_at = ${at})`.compile(
      db,
    ),
  ];
}

function keysMadeBy({ tenant, maker }: MakerChange) {
  return sql`with recursive made (id) as (
    select id from credentials where tenant = ${tenant} and kind = 'key' and maker = ${maker}
    union select credentials.id from credentials join made on credentials.maker = made.id
      where credentials.tenant = ${tenant} and credentials.kind = 'key')`;
}

function isLost({ tenant, keeps }: MakerChange) {
  const lost = roles.filter((role) => !keeps.includes(role));
  return lost.length === 0
    ? sql`1 = 0`
    : sql`tenant = ${tenant} and id in (select id from made) and revoked_at is null and role in (${sql.join(lost)})`;
}
